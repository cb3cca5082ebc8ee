"""A single client where something takes processor time away from the server."""

import math

from whole_server.neighbour import CORES, half_a_core, limited
from whole_server.options import Options
from whole_server.process import Running
from whole_server.servers import BERTH, BERTH_ONNX, labels
from whole_server.statistics import Metrics, Round, ratio_of, value_of
from whole_server.tables import Goal, at_most, number, table
from whole_server.turn import Turn

QUIET, NEIGHBOUR, LIMITED = "quiet", "neighbour", "limited"
METRICS = ("p50", "p99")
OWN = {BERTH, BERTH_ONNX}


def measure(turn: Turn) -> Round:
    servers = turn.rotated(turn.peers)
    found: Round = {server.name: single(turn, server, QUIET) for server in servers}
    for server in servers:
        with half_a_core():
            found[server.name] |= single(turn, server, NEIGHBOUR)
    for server in servers:
        with limited(server) as possible:
            if possible:
                found[server.name] |= single(turn, server, LIMITED)
    return found


def single(turn: Turn, server: Running, state: str) -> Metrics:
    load = turn.load(server, 1)
    return {f"{metric} {state}": getattr(load, metric) for metric in METRICS}


def report(rounds: list[Round], options: Options) -> list[str]:
    names = [name for name in labels(options.cores) if name in rounds[0]]
    head = [f"{state}: {metric}" for state in ("quiet", "a neighbour", f"{CORES:g} cores") for metric in METRICS]
    return [
        "### A single client beside a neighbour",
        "",
        *table(
            ["server", *head],
            [
                [
                    labels(options.cores)[name],
                    *(
                        number(value_of(rounds, name, f"{metric} {state}"), 3)
                        for state in (QUIET, NEIGHBOUR, LIMITED)
                        for metric in METRICS
                    ),
                ]
                for name in names
            ],
        ),
        "",
        "Times in milliseconds. The neighbour is a process that computes for 20 ms and sleeps for 20 ms, again and again. "
        f"{CORES:g} cores are a limit of the kernel's, as that of `docker run --cpus {CORES:g}`; a dash: it could not be set here.",
    ]


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    found = []
    for state, words in (NEIGHBOUR, "beside a neighbour"), (LIMITED, f"on {CORES:g} cores"):
        for metric in METRICS:
            name = f"{metric} {state}"
            own, best = (lowest(rounds, name, names) for names in (OWN, set(rounds[0]) - OWN))
            if not math.isnan(value_of(rounds, own, name)):
                ratio = ratio_of(rounds, name, own, best)
                found.append(at_most(f"a single client's {metric} {words}: of the best peer", ratio, 1))
    return found


def lowest(rounds: list[Round], metric: str, names: set[str]) -> str:
    """That with the best median. The best one of each round would be the luckiest of them."""
    return min(sorted(names), key=lambda name: value_of(rounds, name, metric))
