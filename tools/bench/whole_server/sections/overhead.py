"""What the server itself costs: hooks that do nothing against a bare Javalin handler."""

from contextlib import ExitStack
from statistics import median

from whole_server import places
from whole_server.closed_loop import ask
from whole_server.options import Options
from whole_server.process import Running, started
from whole_server.servers import JAVALIN, NOTHING, labels, without_model
from whole_server.statistics import Metrics, Round, ratio_of, value_of
from whole_server.tables import Goal, at_least, at_most, number, table
from whole_server.turn import CLIENTS, Turn, warm


# A machine's speed may change within seconds, so that the servers are measured so often in a round, in turn.
SLICES = 2


def measure(turn: Turn) -> Round:
    with ExitStack() as stack:
        running = [stack.enter_context(started(server)) for server in turn.rotated(without_model())]
        for server in running:
            warm(server, turn.options, places.SHORT_BODIES)
        slices = [{server.name: metrics(server, turn.options.seconds) for server in running} for _ in range(SLICES)]
    return {
        server.name: {metric: median(one[server.name][metric] for one in slices) for metric in slices[0][server.name]}
        for server in running
    }


def metrics(server: Running, seconds: int) -> Metrics:
    many = ask(server, CLIENTS, seconds, places.SHORT_BODIES)
    single = ask(server, 1, seconds, places.SHORT_BODIES)
    return {"rate": many.rate, "p50": single.p50, "p99": single.p99}


def report(rounds: list[Round], options: Options) -> list[str]:
    rows = [
        [
            labels(options.cores)[name],
            number(value_of(rounds, name, "rate"), 3),
            number(ratio_of(rounds, "rate", name, JAVALIN), 3),
            number(value_of(rounds, name, "p50"), 3),
            number(value_of(rounds, name, "p99"), 3),
        ]
        for name in (NOTHING, JAVALIN)
    ]
    return [
        "### Overhead, closed loop, the sample's small body",
        "",
        *table(["", "16 clients: answers/s", "of Javalin", "1 client: p50, ms", "p99, ms"], rows),
    ]


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    return [
        at_least(
            "hooks that do nothing: answers/s of a bare Javalin handler",
            ratio_of(rounds, "rate", NOTHING, JAVALIN),
            0.6,
        ),
        at_most("hooks that do nothing: a single client's p50", value_of(rounds, NOTHING, "p50"), 0.5, " ms"),
    ]
