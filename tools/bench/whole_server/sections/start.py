"""From exec to the first answer, the model in the page cache."""

from whole_server.options import Options
from whole_server.process import started
from whole_server.servers import BERTH, compared, labels
from whole_server.statistics import Round, value_of
from whole_server.tables import Goal, at_most, number, table
from whole_server.turn import Turn


def measure(turn: Turn) -> Round:
    servers = turn.rotated(compared(turn.options))
    if turn.number == 0:
        # Only to have all files in the page cache.
        for server in servers:
            with started(server):
                pass
    found = {}
    for server in servers:
        with started(server) as running:
            found[server.name] = {"seconds": running.start_seconds}
    return found


def report(rounds: list[Round], options: Options) -> list[str]:
    rows = [
        [label, number(value_of(rounds, name, "seconds"), 3)]
        for name, label in labels(options.cores).items()
        if name in rounds[0]
    ]
    return ["### Start", "", *table(["server", "exec to the first answer, s"], rows)]


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    return [at_most("first answer after exec", value_of(rounds, BERTH, "seconds"), 1, " s")]
