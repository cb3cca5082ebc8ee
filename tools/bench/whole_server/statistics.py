"""Medians, and ratios that are taken within one round before the median of the rounds is."""

import math
from collections.abc import Callable, Iterable
from statistics import median

Metrics = dict[str, float]
Round = dict[str, Metrics]


def percentile(values: Iterable[float], share: float) -> float:
    """The least of the values that is no less than `share` of them; no number where there is no value."""
    ordered = sorted(values)
    return ordered[max(0, math.ceil(share * len(ordered)) - 1)] if ordered else math.nan


def median_of(rounds: list[Round], value: Callable[[Round], float]) -> float:
    """The median over the rounds that have this value."""
    found = [value(one) for one in rounds]
    found = [number for number in found if not math.isnan(number)]
    return median(found) if found else math.nan


def value_of(rounds: list[Round], name: str, metric: str) -> float:
    return median_of(rounds, lambda one: one.get(name, {}).get(metric, math.nan))


def ratio_of(rounds: list[Round], metric: str, name: str, other: str) -> float:
    """How many times as large it is for `name` as for `other`."""
    return median_of(rounds, lambda one: one[name][metric] / one[other][metric] if other in one else math.nan)


def excess_of(rounds: list[Round], metric: str, name: str, other: str) -> float:
    """How much larger it is for `name` than for `other`."""
    return median_of(rounds, lambda one: one[name][metric] - one[other][metric])
