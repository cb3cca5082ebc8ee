"""One round of the benchmark, as its sections see it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from whole_server import places
from whole_server.closed_loop import Load, drive
from whole_server.options import Options
from whole_server.process import Running

CLIENTS = 16
# What a server is asked before it is measured: by steps, until one is not so much faster than the one before.
MOST_STEPS = 5
RISE = 1.03
# The goals of throughput are stated for a minute of load: a JVM compiles for that long.
COMPARED_STEPS = 6
T = TypeVar("T")


@dataclass
class Turn:
    """Round `number`, counted from 0, with the servers that are compared, warm and up in all rounds, and the answers a
    second that each of them gave in this one to 16 clients."""

    options: Options
    number: int
    peers: list[Running]
    capacities: dict[str, float] = field(default_factory=dict)

    def rotated(self, items: Sequence[T]) -> list[T]:
        """The items in another order in each round, so that none always comes first."""
        first = self.number % len(items)
        return [*items[first:], *items[:first]]

    def load(self, server: Running, clients: int) -> Load:
        """Other bodies come first in each round."""
        return drive(server, clients, self.options.seconds, first=self.number * 137)

    def capacity(self, server: Running) -> float:
        if server.name not in self.capacities:
            self.capacities[server.name] = self.load(server, CLIENTS).rate
        return self.capacities[server.name]

    def warm(self, server: Running) -> None:
        warm(server, self.options)


def compared_warm_seconds(options: Options) -> int:
    return options.warm_seconds * (1 if options.quick else COMPARED_STEPS)


def warm_compared(server: Running, options: Options) -> None:
    """Asks a server that is compared in all rounds for a minute, by default."""
    drive(server, CLIENTS, compared_warm_seconds(options))


def warm(server: Running, options: Options, bodies: Path = places.BODIES) -> None:
    """Asks until its rate no longer rises. A JVM compiles what is hot meanwhile, and so does PyTorch's executor."""
    before = 0.0
    for _ in range(MOST_STEPS):
        rate = drive(server, CLIENTS, options.warm_seconds, bodies).rate
        if rate < RISE * before or options.quick:
            return
        before = rate
