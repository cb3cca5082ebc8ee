"""Shows how far a trace has come, on stderr, and what was found out about its files, on stdout."""

import sys
import time
from collections.abc import Iterable

from tqdm import tqdm


class Steps:
    """Numbers the steps and says how much time has passed; plain lines, in a terminal or a log."""

    def __init__(self, total: int):
        self.total = total
        self.done = 0
        self.started = time.perf_counter()

    def next(self, what: str) -> None:
        self.done += 1
        self.note(what)

    def note(self, what: str) -> None:
        """Says what a step is doing."""
        elapsed = time.perf_counter() - self.started
        print(f"[{self.done}/{self.total}] {elapsed:6.1f} s  {what}", file=sys.stderr, flush=True)


def each(items: Iterable | None, what: str, **more) -> tqdm:
    """The items under a bar that only a terminal gets and that is wiped when it is full."""
    return tqdm(items, desc=what, leave=False, disable=None, **more)


def warn(message: str) -> None:
    print(f"warning: {message}", file=sys.stderr, flush=True)


class Report:
    """What was found out about one file, as lines of its name."""

    def __init__(self, name: str, content: bytes):
        self.name = name
        self.say(f"{len(content) / 1e6:.1f} MB")

    def say(self, what: str) -> None:
        print(f"{self.name}: {what}", flush=True)
