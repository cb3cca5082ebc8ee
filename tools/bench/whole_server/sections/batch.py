"""A large mini-batch of JSON Lines, as batch transform sends it, and a single client beside it."""

import http.client
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

from whole_server import bare, places
from whole_server.errors import BenchmarkError
from whole_server.options import Options
from whole_server.process import Running, started
from whole_server.servers import BERTH, berth
from whole_server.statistics import Round, percentile, ratio_of, value_of
from whole_server.tables import Goal, at_least, at_most, number, table
from whole_server.turn import Turn

LINES = {"Content-Type": "application/jsonlines", "Accept": "application/jsonlines"}
JSON = {"Content-Type": "application/json"}
LONGEST = 3600


def measure(turn: Turn) -> Round:
    body = places.MINI_BATCH.read_bytes()
    before = bare.loops(turn.options, turn.options.cores)
    with started(berth(SAGEMAKER_BATCH="true", SAGEMAKER_BATCH_STRATEGY="MULTI_RECORD")) as server:
        turn.warm(server)
        end = time.perf_counter() + turn.options.seconds
        quiet = ask_alone(server, lambda: time.perf_counter() < end)
        rate = send(server, body)
        with ThreadPoolExecutor(1) as pool:
            sending = pool.submit(send, server, body)
            beside = ask_alone(server, lambda: not sending.done())
            shared_rate = sending.result()
    after = bare.loops(turn.options, turn.options.cores)
    loops = {name: {"rate": (before[name]["rate"] + after[name]["rate"]) / 2} for name in before}
    p50, p99 = percentile(quiet, 0.5), percentile(beside, 0.99)
    return {
        BERTH: {"rate": rate, "shared rate": shared_rate, "quiet p50": p50, "p99": p99, "starved": p99 / p50},
    } | loops


def send(server: Running, body: bytes) -> float:
    """Records a second of one request of many records."""
    begin = time.perf_counter()
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LONGEST)
    answer = post(connection, server, body, LINES)
    connection.close()
    records = body.count(b"\n")
    if len(answer.splitlines()) != records:
        raise BenchmarkError(f"{server.name} answered {len(answer.splitlines())} of {records} records")
    return records / (time.perf_counter() - begin)


def ask_alone(server: Running, go_on: Callable[[], bool]) -> list[float]:
    """Asks the same question over and over; the milliseconds that each took.

    It is of median length: a ratio of times is of no use where it is between questions of different lengths.
    """
    bodies = sorted(places.BODIES.read_bytes().splitlines(), key=len)
    body = bodies[len(bodies) // 2]
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=LONGEST)
    times = []
    while go_on():
        begin = time.perf_counter()
        post(connection, server, body, JSON)
        times.append((time.perf_counter() - begin) * 1000)
    connection.close()
    return times


def post(connection: http.client.HTTPConnection, server: Running, body: bytes, headers: dict[str, str]) -> bytes:
    try:
        connection.request("POST", "/invocations", body, headers)
        response = connection.getresponse()
        answer = response.read()
    except (OSError, http.client.HTTPException) as problem:
        server.check()
        raise BenchmarkError(f"{server.name} gave no answer: {problem}") from problem
    if response.status != 200:
        raise BenchmarkError(f"{server.name} answered {response.status}: {answer[:200].decode(errors='replace')}")
    return answer


def report(rounds: list[Round], options: Options) -> list[str]:
    def cell(metric: str) -> str:
        return number(value_of(rounds, BERTH, metric), 3)

    return [
        f"### One request of {options.mini_batch_bytes / 1e6:g} MB of JSON Lines",
        "",
        *table(
            [
                "",
                "records/s",
                "of the bare loop",
                "a single client: quiet p50, ms",
                "beside the request: p99, ms",
                "p99 / quiet p50",
            ],
            [
                ["the request alone", cell("rate"), number(ratio_of(rounds, "rate", BERTH, bare.best(rounds, "rate", max)), 3), "", "", ""],
                ["with a single client", cell("shared rate"), "", cell("quiet p50"), cell("p99"), cell("starved")],
            ],
        ),
    ]


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    return [
        at_least("mini-batch: records/s of the bare loop", ratio_of(rounds, "rate", BERTH, bare.best(rounds, "rate", max)), 0.97),
        at_most("mini-batch: a single client's p99 / its quiet p50", value_of(rounds, BERTH, "starved"), 3),
    ]
