"""Runs the open-loop client beside a server, and what it saw."""

import json
import sys
from collections import Counter
from dataclasses import dataclass

from whole_server import places
from whole_server.process import Running, printed


@dataclass(frozen=True)
class Request:
    """A request that was due at `due` seconds and over `time` milliseconds later; status 0 is no answer."""

    due: float
    time: float
    status: int

    @property
    def end(self) -> float:
        return self.due + self.time / 1000


@dataclass(frozen=True)
class Arrivals:
    requests: list[Request]
    pings: list[float]

    def answered(self, begin: float, end: float, longest: float) -> float:
        """Answers a second between two moments, of requests that took no longer than so many milliseconds."""
        good = [one for one in self.requests if one.status == 200 and one.time <= longest and begin <= one.end < end]
        return len(good) / (end - begin)

    def times(self, *statuses: int) -> list[float]:
        return [one.time for one in self.requests if one.status in statuses]

    def statuses(self) -> Counter[int]:
        return Counter(one.status for one in self.requests)


def arrive(server: Running, rate: float, seconds: int, timeout: int, seed: int) -> Arrivals:
    command = [
        sys.executable,
        "-m",
        "whole_server.open_loop",
        server.url,
        str(places.BODIES),
        str(rate),
        str(seconds),
        str(timeout),
        str(seed),
    ]
    found = json.loads(printed(command, f"the open loop failed at {server.name}"))
    server.check()
    return Arrivals([Request(*request) for request in found["requests"]], found["pings"])
