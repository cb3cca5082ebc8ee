"""How long each section is expected to take, and how long it took."""

from collections.abc import Callable

from whole_server.options import Options
from whole_server.tables import table

# Seconds of one round on two cores: what does not depend on the options, of --seconds, and of --warm-seconds. They were
# counted from the code of the sections: measurements, starts of processes, and the time in which servers come to rest.
PARTS: dict[str, Callable[[int, int], float]] = {
    "load": lambda seconds, warm: 70 + 19 * seconds,
    "curve": lambda seconds, warm: 25 + 18 * seconds,
    "overload": lambda seconds, warm: 85 + 2 * seconds + 2 * warm,
    "overhead": lambda seconds, warm: 8 + 8 * seconds + 2 * warm,
    "heap": lambda seconds, warm: 4 + seconds + warm,
    "start": lambda seconds, warm: 20,
    "memory": lambda seconds, warm: 200,
    "models": lambda seconds, warm: 70 + 14 * seconds,
    "tasks": lambda seconds, warm: 90 + 60 * seconds + 2.5 * warm,
    "batch": lambda seconds, warm: 160 + 9 * seconds + warm,
}
# The tuned servers, started and warmed before the first round.
PEERS = 5


def expected(options: Options, once: set[str]) -> dict[str, float]:
    """Seconds of each section in all of its rounds."""
    return {
        name: PARTS[name](options.seconds, options.warm_seconds) * (1 if name in once else options.rounds)
        for name in options.sections
    }


def describe(expected_seconds: dict[str, float], took: dict[str, float]) -> list[str]:
    rows = [[name, text(expected_seconds[name]), text(took[name])] for name in expected_seconds if name in took]
    total = [text(sum(expected_seconds.values())), text(sum(took.values()))]
    return table(["section", "expected", "took"], [*rows, ["all, with warming the servers", *total]])


def text(seconds: float) -> str:
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"
