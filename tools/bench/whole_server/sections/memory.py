"""What a server holds after so many short requests of 16 clients."""

import math
import time

from whole_server import places
from whole_server.closed_loop import drive
from whole_server.options import Options
from whole_server.process import Running, started
from whole_server.servers import BERTH, BERTH_ONNX, ONNX, TUNED, compared, labels
from whole_server.statistics import Metrics, Round, value_of
from whole_server.tables import Goal, at_most, number, table
from whole_server.turn import CLIENTS, Turn

SHARES = (0.1, 0.25, 0.5, 0.75, 1.0)
COMPARED = (BERTH, BERTH_ONNX, TUNED, ONNX)
# The goal is stated for as many.
GOAL_REQUESTS = 10_000
# A peer whose threads spin beside a busy neighbour would never come to the end.
LONGEST_SECONDS, LONGEST_SECONDS_LONG = 200, 2400


def points(options: Options) -> list[int]:
    """Shares of the requests; and those of the goal, if it is a long run."""
    found = {int(options.memory_requests * share) for share in SHARES}
    return sorted(found | ({GOAL_REQUESTS // 2, GOAL_REQUESTS} if options.long else set()))


def measure(turn: Turn) -> Round:
    found = {}
    for server in compared(turn.options):
        # The published sample would take most of an hour; a process for each core holds as many times as much.
        if server.name in COMPARED:
            with started(server) as running:
                found[server.name] = watch(running, turn.options)
    return found


def watch(server: Running, options: Options) -> Metrics:
    found = {"0": server.resident_megabytes()}
    done, rate = 0, 0.0
    end = time.perf_counter() + (LONGEST_SECONDS_LONG if options.long else LONGEST_SECONDS)
    for target in points(options):
        while done < target:
            if time.perf_counter() > end:
                return found
            seconds = min(60, max(1, math.ceil((target - done) / rate))) if rate else 1
            load = drive(server, CLIENTS, seconds, places.SHORT_BODIES)
            done, rate = done + load.answers, load.rate
        found[str(target)] = server.resident_megabytes()
    return found


def report(rounds: list[Round], options: Options) -> list[str]:
    requests = ["0", *map(str, points(options))]
    rows = [
        [label, *[number(value_of(rounds, name, metric), 3) for metric in requests]]
        for name, label in labels(options.cores).items()
        if name in rounds[0]
    ]
    return [
        "### Memory",
        "",
        *table(["resident MB after so many requests", *requests], rows),
        "",
        "Of all processes together. Pages that they share count once, mapped files as far as they are in memory.",
    ]


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    requests = [min(GOAL_REQUESTS, options.memory_requests)] + ([options.memory_requests] if options.long else [])
    found = []
    for last in requests:
        after = value_of(rounds, BERTH, str(last))
        found += [
            at_most(f"resident after {last} requests", after, 300, " MB"),
            at_most(f"the same, of what it was after {last // 2}", after / value_of(rounds, BERTH, str(last // 2)), 1.02),
        ]
    return found
