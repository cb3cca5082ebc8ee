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


def warm(server: Running, options: Options, bodies: Path = places.BODIES) -> None:
    """A JVM compiles what is hot meanwhile."""
    drive(server, CLIENTS, options.warm_seconds, bodies)
