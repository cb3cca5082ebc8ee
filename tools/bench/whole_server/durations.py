"""How long each section is expected to take, and how long it took."""

from collections.abc import Callable

from whole_server.options import COMPARING, ONCE, Options
from whole_server.servers import compared
from whole_server.tables import table
from whole_server.turn import compared_warm_seconds

WARMING = "starting and warming the servers"

# Seconds of one round on two cores, of --seconds and --warm-seconds. They were counted from the code of the sections:
# measurements, starts, and the time in which servers come to rest.
PARTS: dict[str, Callable[[int, int], float]] = {
    "peak": lambda seconds, warm: 2,
    "load": lambda seconds, warm: 84 + 28 * seconds,
    "neighbour": lambda seconds, warm: 16 + 24 * seconds,
    "curve": lambda seconds, warm: 40 + 23 * seconds,
    "overload": lambda seconds, warm: 104 + 2 * seconds,
    "overhead": lambda seconds, warm: 24 + 8 * seconds,
    "heap": lambda seconds, warm: 4 + seconds + warm,
    "start": lambda seconds, warm: 21,
    "memory": lambda seconds, warm: 200,
    "models": lambda seconds, warm: 82 + 12 * seconds,
    "tasks": lambda seconds, warm: 560,
    "small": lambda seconds, warm: 340,
    "batch": lambda seconds, warm: 130 + 5 * seconds + warm,
}
# `--long`: 200,000 requests for each server of `memory`, and 5 MB in place of 2 in `batch`.
LONG = {"memory": 2400, "batch": 140}
# To start a server that is compared in all rounds.
START_SECONDS = 3


def expected(options: Options) -> dict[str, float]:
    """Seconds of each section in all of its rounds, after what was prepared."""
    found = {
        name: PARTS[name](options.seconds, options.warm_seconds) * (1 if name in ONCE else options.rounds)
        + (LONG.get(name, 0) if options.long else 0)
        for name in options.sections
    }
    if COMPARING & set(options.sections):
        found[WARMING] = len(compared(options)) * (START_SECONDS + compared_warm_seconds(options))
    return found


def describe(expected_seconds: dict[str, float], took: dict[str, float]) -> list[str]:
    rows = [[name, text(expected_seconds[name]), text(took[name])] for name in expected_seconds if name in took]
    total = [text(sum(expected_seconds.values())), text(sum(took.values()))]
    return table(["section", "expected", "took"], [*rows, ["all", *total]])


def text(seconds: float) -> str:
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
