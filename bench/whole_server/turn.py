"""One round of the benchmark, as its sections see it."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from whole_server.closed_loop import Load, drive
from whole_server.options import Options
from whole_server.process import Running

CLIENTS = 16
T = TypeVar("T")


@dataclass
class Turn:
    """Round `number`, counted from 0, and the answers a second that each server gave in it to 16 clients."""

    options: Options
    number: int
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
        drive(server, CLIENTS, self.options.warm_seconds)
