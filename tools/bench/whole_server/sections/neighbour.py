"""A single client where something takes processor time away from the server."""

from whole_server.neighbour import CORES, half_a_core, limited
from whole_server.options import Options
from whole_server.process import Running
from whole_server.servers import BERTH, BERTH_ONNX, labels
from whole_server.statistics import Metrics, Round, value_of
from whole_server.tables import Goal, number, table
from whole_server.turn import Turn

QUIET, NEIGHBOUR, LIMITED = "quiet", "neighbour", "limited"
METRICS = ("p50", "p99")


def measure(turn: Turn) -> Round:
    found: Round = {}
    for server in turn.rotated(turn.peers):
        metrics = single(turn, server, QUIET)
        with half_a_core():
            metrics |= single(turn, server, NEIGHBOUR)
        with limited(server) as possible:
            if possible:
                metrics |= single(turn, server, LIMITED)
        found[server.name] = metrics
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
            values = {name: value_of(rounds, name, f"{metric} {state}") for name in rounds[0]}
            own = min(values.pop(BERTH), values.pop(BERTH_ONNX))
            if own == own:
                best = min(values.values())
                found.append(
                    Goal(f"a single client's {metric} {words}: of the best peer ≤ 1", number(own / best, 3), own <= best)
                )
    return found
