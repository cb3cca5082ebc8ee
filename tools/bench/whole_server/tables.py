"""Tables in Markdown, and goals."""

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Goal:
    """What is to be reached, what was, and whether that is enough."""

    text: str
    found: str
    met: bool


def table(head: list[str], rows: list[list[str]]) -> list[str]:
    rule = ["---", *["--:"] * (len(head) - 1)]
    return [f"| {' | '.join(cells)} |" for cells in (head, rule, *rows)]


def goals_table(goals: list[Goal]) -> list[str]:
    return table(["goal", "found", "met"], [[goal.text, goal.found, "yes" if goal.met else "**no**"] for goal in goals])


def at_least(text: str, value: float, bound: float) -> Goal:
    return Goal(f"{text} ≥ {bound:g}", number(value, 3), value >= bound)


def at_most(text: str, value: float, bound: float, unit: str = "") -> Goal:
    return Goal(f"{text} ≤ {bound:g}{unit}", number(value, 3) + unit, value <= bound)


def number(value: float, digits: int) -> str:
    """So many significant digits, but never less than all digits before the point; a dash where there is no number."""
    if math.isnan(value):
        return "–"
    before = len(str(int(abs(value)))) if abs(value) >= 1 else 0
    return f"{value:,.{max(0, digits - before)}f}"
