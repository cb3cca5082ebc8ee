"""Throughput at 16 and 64 clients, how long a lonely client waits, and how evenly 16 clients are served."""

from contextlib import ExitStack

from whole_server import bare
from whole_server.bare import Loop
from whole_server.options import Options
from whole_server.process import started
from whole_server.servers import BARE, BERTH, PUBLISHED, TUNED, TUNED_PROCESSES, compared, labels
from whole_server.statistics import Metrics, Round, excess_of, median_of, ratio_of, value_of
from whole_server.tables import Goal, at_least, at_most, number, table
from whole_server.turn import Turn

LONELY, MANY, MORE = 1, 16, 64
FASTAPI = (PUBLISHED, TUNED, TUNED_PROCESSES)


def measure(turn: Turn) -> Round:
    found: Round = {}
    with ExitStack() as stack:
        running = [stack.enter_context(started(server)) for server in turn.rotated(compared(turn.options))]
        for server in running:
            turn.warm(server)
            found[server.name] = {}
        together = []
        for clients in (LONELY, MANY, MORE):
            for server in running:
                load = turn.load(server, clients)
                found[server.name] |= metrics(clients, load.rate, load.p50, load.p90, load.p99)
            # The loops run beside the loads that they are compared with.
            if clients != MORE:
                together.append(bare.loops(turn.options, 1 if clients == LONELY else turn.options.cores))
    turn.capacities |= {name: values[f"rate {MANY}"] for name, values in found.items()}
    return found | bare_round(*together)


def metrics(clients: int, rate: float, p50: float, p90: float, p99: float) -> Metrics:
    return {
        f"rate {clients}": rate,
        f"p50 {clients}": p50,
        f"p90 {clients}": p90,
        f"p99 {clients}": p99,
        f"spread {clients}": p99 / p50,
    }


def bare_round(alone: list[Loop], together: list[Loop]) -> Round:
    """The best loop for each purpose, and each loop by its own name."""
    rate = max(loop.rate for loop in alone + together)
    quickest = min(alone, key=lambda loop: loop.p50)
    lonely = metrics(LONELY, quickest.rate, quickest.p50, quickest.p90, quickest.p99)
    each = {loop.name: {"rate": loop.rate, "p50": loop.p50} for loop in alone + together}
    return {BARE: lonely | {f"rate {MANY}": rate, f"rate {MORE}": rate}} | each


def report(rounds: list[Round], options: Options) -> list[str]:
    names = [name for name in labels(options.cores) if name in rounds[0]]
    loops = [name for name in rounds[0] if name not in names]
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
                "p50",
                "p99",
                "p99 / p50",
                "64 clients: answers/s",
                "of bare",
            ],
            [[labels(options.cores)[name], *cells(rounds, name)] for name in names],
        ),
        "",
        "Times in milliseconds. The bare model's row is the best of these loops, in each round:",
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
    lonely = [number(value_of(rounds, name, f"{share} {LONELY}"), 3) for share in ("p50", "p90", "p99")]
    many = [number(value_of(rounds, name, f"{metric} {MANY}"), 3) for metric in ("p50", "p99", "spread")]
    return [*lonely, *rate_cells(rounds, name, MANY), *many, *rate_cells(rounds, name, MORE)]


def rate_cells(rounds: list[Round], name: str, clients: int) -> list[str]:
    metric = f"rate {clients}"
    return [number(value_of(rounds, name, metric), 3), number(ratio_of(rounds, metric, name, BARE), 3)]


def best_fastapi(one: Round, metric: str) -> float:
    return max(one[name][metric] for name in FASTAPI if name in one)


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    found = []
    for clients in (MANY, MORE):
        metric = f"rate {clients}"
        found += [
            at_least(f"throughput, {clients} clients: of the bare loop", ratio_of(rounds, metric, BERTH, BARE), 0.97),
            at_least(
                f"throughput, {clients} clients: of the best FastAPI",
                median_of(rounds, lambda one, metric=metric: one[BERTH][metric] / best_fastapi(one, metric)),
                1.05,
            ),
        ]
    return [
        *found,
        at_most(
            "a lonely client's p50: above the bare loop with all cores",
            excess_of(rounds, f"p50 {LONELY}", BERTH, BARE),
            1,
            " ms",
        ),
        at_most("16 clients: p99 / p50", value_of(rounds, BERTH, f"spread {MANY}"), 2),
    ]
