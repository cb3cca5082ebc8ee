"""So many clients, each of which asks again as soon as it has its answer: wrk with tools/bench/ask.lua."""

import json
import math
from dataclasses import dataclass, replace
from pathlib import Path

from whole_server import places
from whole_server.errors import BenchmarkError
from whole_server.process import Running, printed


@dataclass(frozen=True)
class Load:
    """What wrk saw; times in milliseconds. Answers are those of status 200."""

    answers: int
    seconds: float
    p50: float
    p90: float
    p99: float
    refused: int
    lost: int

    @property
    def rate(self) -> float:
        return self.answers / self.seconds


def ask(
    server: Running, clients: int, seconds: int, bodies: Path = places.BODIES, first: int = 0, **request: str
) -> Load:
    """Asks with the lines of `bodies`, or with the files in it, from number `first` on.

    @raises BenchmarkError: where nothing was answered
    """
    load = drive(server, clients, seconds, bodies, first, **request)
    if not load.answers:
        raise BenchmarkError(
            f"{server.name} gave {clients} clients no answer within {seconds} s; allow more with --seconds"
        )
    return load


def drive(
    server: Running,
    clients: int,
    seconds: int,
    bodies: Path = places.BODIES,
    first: int = 0,
    content_type: str = "application/json",
    path: str = "/invocations",
) -> Load:
    """As `ask`, but a server may be too slow to answer anything in that time; its times are no numbers then.

    @raises BenchmarkError: where a request has failed, since nothing here should make one fail
    """
    command = [
        "wrk",
        "--threads",
        "1",
        "--connections",
        str(clients),
        "--duration",
        f"{seconds}s",
        "--timeout",
        "120s",
        "--script",
        str(places.ASK),
        server.at(path),
    ]
    environment = {"FIRST_BODY": str(first), "CONTENT_TYPE": content_type}
    if bodies.is_dir():
        environment["BODY_FILES"] = "\n".join(map(str, sorted(bodies.iterdir())))
    else:
        environment["BODIES"] = str(bodies)
    load = Load(**json.loads(printed(command, f"wrk failed at {server.name}", environment)))
    server.check()
    server.settle()
    if load.refused or load.lost:
        raise BenchmarkError(f"{server.name} failed {load.refused + load.lost} of the requests of {clients} clients")
    return load if load.answers else replace(load, p50=math.nan, p90=math.nan, p99=math.nan)
