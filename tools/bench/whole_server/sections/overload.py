"""Three times the requests that Berth can answer, with its own settings and with a short deadline."""

import math
from dataclasses import replace

from whole_server.arrivals import Arrivals, arrive
from whole_server.closed_loop import ask
from whole_server.options import Options
from whole_server.process import Running, started
from whole_server.servers import berth
from whole_server.statistics import Metrics, Round, percentile, value_of
from whole_server.tables import Goal, at_least, at_most, number, table
from whole_server.turn import CLIENTS, Turn, warm

TIMES_CAPACITY = 3
# Of what 16 clients in a closed loop are answered: the capacity is the most that is answered at one of these rates. The
# generator that offers three times as much measures it, because it takes some of the cores itself.
SATURATING = (1.0, 1.1)
SATURATING_SECONDS = 8
# The closed loop and the steps of the capacity warm it as well.
WARM_SECONDS = 10
# Seconds. The first is Berth's own, the second what an impatient caller would set.
DEADLINES = (60, 2)
# How much longer the client itself waits, to see who is kept past the deadline.
PATIENCE = 30
# What the way to the server and back may add to a deadline, in milliseconds.
WAY = 100
# At the beginning.
SETTLING = 2


def measure(turn: Turn) -> Round:
    return {f"deadline {deadline} s": one_deadline(turn, deadline) for deadline in DEADLINES}


def one_deadline(turn: Turn, deadline: int) -> Metrics:
    seconds = 5 if turn.options.quick else max(20, turn.options.seconds)
    with started(berth(SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=str(deadline))) as server:
        warm(server, replace(turn.options, warm_seconds=min(WARM_SECONDS, turn.options.warm_seconds)))
        closed = ask(server, CLIENTS, turn.options.seconds).rate
        capacity = max(saturated(turn, server, share * closed, deadline) for share in SATURATING)
        arrivals = arrive(server, TIMES_CAPACITY * capacity, seconds, deadline + PATIENCE, turn.number)
    return {"closed": closed} | metrics(arrivals, capacity, seconds, deadline * 1000)


def saturated(turn: Turn, server: Running, rate: float, deadline: int) -> float:
    """Answers a second where about as much is offered as can be answered."""
    seconds = 4 if turn.options.quick else max(SATURATING_SECONDS, turn.options.seconds)
    arrivals = arrive(server, rate, seconds, deadline + PATIENCE, turn.number)
    server.settle()
    return arrivals.answered(SETTLING, seconds, deadline * 1000)


def metrics(arrivals: Arrivals, capacity: float, seconds: int, deadline: float) -> Metrics:
    # A time-out is a refusal too, and a late one.
    refusals = [request.time for request in arrivals.requests if request.status != 200]
    # Until the queue is full nothing is refused, and what comes is read and tokenised long before its turn.
    full = min((request.end for request in arrivals.requests if request.status in (429, 503)), default=SETTLING)
    good = arrivals.answered(max(SETTLING, full), seconds, deadline)
    return {
        "capacity": capacity,
        "offered": len(arrivals.requests) / seconds,
        "good": good,
        "kept": good / capacity,
        "kept with filling": arrivals.answered(SETTLING, seconds, deadline) / capacity,
        "refused": len(refusals),
        "refusal p50": percentile(refusals, 0.5),
        "refusal p99": percentile(refusals, 0.99),
        "longest": max(request.time for request in arrivals.requests),
        "ping p99": percentile(arrivals.pings, 0.99),
        "ping longest": max(arrivals.pings, default=math.nan),
    } | {f"status {status}": count for status, count in arrivals.statuses().items()}


def report(rounds: list[Round], options: Options) -> list[str]:
    statuses = sorted({metric for one in rounds for values in one.values() for metric in values if "status" in metric})
    columns = [
        "closed",
        "capacity",
        "offered",
        "good",
        "kept",
        "kept with filling",
        "refusal p50",
        "refusal p99",
        "longest",
        "ping p99",
        "ping longest",
    ]
    head = [
        "",
        "16 clients, closed loop, answers/s",
        "capacity, answers/s",
        "offered/s",
        "goodput, answers/s",
        "goodput / capacity",
        "from the start on",
        "rejection: p50",
        "p99",
        "longest wait",
        "/ping: p99",
        "longest",
        *statuses,
    ]
    rows = [[name, *[number(value_of(rounds, name, metric), 3) for metric in columns + statuses]] for name in rounds[0]]
    return [
        f"### Overload: {TIMES_CAPACITY} times what Berth can answer, open loop",
        "",
        *table(head, rows),
        "",
        "One open loop measures both the capacity and the overload. The capacity is the most that is answered where "
        f"{' or '.join(f'{share:.0%}' for share in SATURATING)} of the closed loop's rate is offered. Times in "
        "milliseconds. `status 0` is no answer at all.",
    ]


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    found = []
    for deadline in DEADLINES:
        name = f"deadline {deadline} s"
        found += [
            at_least(f"overload, {name}: goodput / capacity", value_of(rounds, name, "kept"), 0.95),
            refusal_goal(name, value_of(rounds, name, "refusal p99")),
            at_most(f"overload, {name}: longest wait", value_of(rounds, name, "longest"), deadline * 1000 + WAY, " ms"),
            at_most(f"overload, {name}: longest /ping", value_of(rounds, name, "ping longest"), 100, " ms"),
        ]
    return found


def refusal_goal(name: str, p99: float) -> Goal:
    text = f"overload, {name}: p99 of rejections"
    return Goal(f"{text} ≤ 20 ms", "none was rejected", True) if math.isnan(p99) else at_most(text, p99, 20, " ms")
