"""Throughput at 16 and 64 clients, how long a single client waits, and how evenly 16 clients are served."""

from collections.abc import Callable

from whole_server import bare
from whole_server.closed_loop import Load
from whole_server.options import Options
from whole_server.sections import peak
from whole_server.servers import (
    BARE,
    BERTH,
    BERTH_ONNX,
    DJL_SERVING,
    DJL_SERVING_WORKERS,
    ONNX,
    ONNX_PROCESSES,
    PEAK,
    TORCHSERVE,
    TUNED,
    TUNED_PROCESSES,
    labels,
)
from whole_server.statistics import Metrics, Round, excess_of, ratio_of, value_of
from whole_server.tables import Goal, at_least, at_most, number, table
from whole_server.turn import Turn

SINGLE, MANY, MORE = 1, 16, 64
# The peers that serve the very file that Berth serves, in each format.
SAME_FILE = {
    BERTH: (TUNED, TUNED_PROCESSES, TORCHSERVE, DJL_SERVING, DJL_SERVING_WORKERS),
    BERTH_ONNX: (ONNX, ONNX_PROCESSES),
}
FORMATS = {BERTH: "in TorchScript", BERTH_ONNX: "in ONNX"}


def measure(turn: Turn) -> Round:
    servers = turn.rotated(turn.peers)
    found: Round = {server.name: {} for server in servers}
    for clients in (SINGLE, MANY, MORE):
        for server in servers:
            found[server.name] |= metrics(clients, turn.load(server, clients))
        # The loops run beside the loads that they are compared with.
        if clients != MORE:
            found |= bare.loops(turn.options, 1 if clients == SINGLE else turn.options.cores)
    limits = peak.limits(turn.options)
    found[PEAK] = {f"p50 {SINGLE}": limits["p50"]} | {f"rate {clients}": limits["rate"] for clients in (MANY, MORE)}
    turn.capacities |= {server.name: found[server.name][f"rate {MANY}"] for server in servers}
    return found


def metrics(clients: int, load: Load) -> Metrics:
    return {
        f"rate {clients}": load.rate,
        f"p50 {clients}": load.p50,
        f"p90 {clients}": load.p90,
        f"p99 {clients}": load.p99,
        f"spread {clients}": load.p99 / load.p50,
    }


def with_bare(rounds: list[Round]) -> list[Round]:
    """The rounds with the best loop for each purpose."""
    if not rounds:
        return []
    most, quickest = bare.best(rounds, "rate", max), bare.best(rounds, "p50", min)
    return [one | {BARE: bare_metrics(one[most], one[quickest])} for one in rounds]


def bare_metrics(most: Metrics, quickest: Metrics) -> Metrics:
    single = {f"{metric} {SINGLE}": quickest[metric] for metric in ("p50", "p90", "p99")}
    return single | {f"rate {clients}": most["rate"] for clients in (MANY, MORE)}


def report(rounds: list[Round], options: Options) -> list[str]:
    loops = bare.names(rounds)
    rounds = with_bare(rounds)
    names = [name for name in labels(options.cores) if name in rounds[0]]
    return [
        "### Load, closed loop",
        "",
        *table(
            [
                "server",
                "1 client: p50",
                "p90",
                "p99",
                "16 clients: answers/s",
                "of bare",
                "of the peak",
                "p50",
                "p99",
                "p99 / p50",
                "64 clients: answers/s",
                "of bare",
                "of the peak",
                "p99",
            ],
            [[labels(options.cores)[name], *cells(rounds, name)] for name in names],
        ),
        "",
        "Times in milliseconds. The bare model's row is the best of these loops:",
        "",
        *table(
            ["loop, parts × threads", "answers/s", "p50"],
            [
                [name, number(value_of(rounds, name, "rate"), 3), number(value_of(rounds, name, "p50"), 3)]
                for name in loops
            ],
        ),
    ]


def cells(rounds: list[Round], name: str) -> list[str]:
    single = [number(value_of(rounds, name, f"{share} {SINGLE}"), 3) for share in ("p50", "p90", "p99")]
    many = [number(value_of(rounds, name, f"{metric} {MANY}"), 3) for metric in ("p50", "p99", "spread")]
    last = number(value_of(rounds, name, f"p99 {MORE}"), 3)
    return [*single, *rate_cells(rounds, name, MANY), *many, *rate_cells(rounds, name, MORE), last]


def rate_cells(rounds: list[Round], name: str, clients: int) -> list[str]:
    metric = f"rate {clients}"
    ratios = [number(ratio_of(rounds, metric, name, other), 3) for other in (BARE, PEAK)]
    return [number(value_of(rounds, name, metric), 3), *ratios]


def of_best_peer(rounds: list[Round], name: str, metric: str, best: Callable[..., str]) -> float:
    """Of the one with the same file and the best median. The best one of each round would be the luckiest of them."""
    peers = [peer for peer in SAME_FILE[name] if peer in rounds[0]]
    return ratio_of(rounds, metric, name, best(peers, key=lambda peer: value_of(rounds, peer, metric)))


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    rounds = with_bare(rounds)
    found = []
    for clients in (MANY, MORE):
        metric = f"rate {clients}"
        found += [
            at_least(f"throughput, {clients} clients: of the bare loop", ratio_of(rounds, metric, BERTH, BARE), 0.97),
            *(
                at_least(
                    f"throughput {words}, {clients} clients: of the best peer with the same file",
                    of_best_peer(rounds, name, metric, max),
                    1.05,
                )
                for name, words in FORMATS.items()
            ),
            at_most(f"p99 of {clients} clients: of TorchServe's", ratio_of(rounds, f"p99 {clients}", BERTH, TORCHSERVE), 0.9),
        ]
    return [
        *found,
        at_most(
            "a single client's p50: above the bare loop with all cores",
            excess_of(rounds, f"p50 {SINGLE}", BERTH, BARE),
            1,
            " ms",
        ),
        *(
            at_most(
                f"a single client's p50 {words}: of the best peer with the same file",
                of_best_peer(rounds, name, f"p50 {SINGLE}", min),
                1,
            )
            for name, words in FORMATS.items()
        ),
        at_most("16 clients: p99 / p50", value_of(rounds, BERTH, f"spread {MANY}"), 2),
    ]
