"""A closed loop of HTTP clients: each asks again as soon as it has its answer. Only the standard library.

One Python process sends some thousand requests a second, so there are several, each with its share of the clients.
"""

import asyncio
import multiprocessing
import os
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import cycle, islice


@dataclass
class Seen:
    """What clients saw of requests that began after the warm-up; times in milliseconds."""

    seconds: float = 0.0
    times: list[float] = field(default_factory=list)
    statuses: Counter = field(default_factory=Counter)
    # Connections that ended between a request and its answer, and those that were refused.
    lost: int = 0
    refused: int = 0
    # Of a core, what the busiest of the load generators took: near 1, it was the limit.
    generator: float = 0.0

    def add(self, other: "Seen") -> None:
        self.seconds = max(self.seconds, other.seconds)
        self.times += other.times
        self.statuses += other.statuses
        self.lost += other.lost
        self.refused += other.refused
        self.generator = max(self.generator, other.generator)

    def figures(self) -> dict:
        times = sorted(self.times)
        at = {share: times[min(len(times) - 1, int(len(times) * share))] if times else None for share in (0.5, 0.99)}
        return {
            "answers/s": round(len(times) / self.seconds, 1) if self.seconds else 0,
            "p50 ms": at[0.5] and round(at[0.5], 2),
            "p99 ms": at[0.99] and round(at[0.99], 2),
            "statuses": {str(status): count for status, count in sorted(self.statuses.items())},
            "lost": self.lost,
            "refused": self.refused,
            "load generator's core": round(self.generator, 2),
        }


class Client(asyncio.Protocol):
    def __init__(self, requests, begin: float, end: float, seen: Seen, closed: asyncio.Future):
        self.requests, self.begin, self.end, self.seen, self.closed = requests, begin, end, seen, closed
        self.received = bytearray()
        self.asked = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        self.transport = transport
        self.ask()

    def ask(self) -> None:
        self.received.clear()
        self.needed = None
        self.asked = None
        if time.perf_counter() >= self.end:
            self.transport.close()
            return
        self.asked = time.perf_counter()
        self.transport.write(next(self.requests))

    def data_received(self, data: bytes) -> None:
        self.received += data
        if self.needed is None:
            head = self.received.find(b"\r\n\r\n")
            if head < 0:
                return
            fields = self.received[:head].lower()
            self.needed = head + 4 + int(fields.partition(b"content-length:")[2].partition(b"\r\n")[0])
            self.closes = b"connection: close" in fields
        if len(self.received) < self.needed:
            return
        if self.asked >= self.begin:
            status = int(self.received[9:12])
            self.seen.statuses[status] += 1
            if status == 200:
                self.seen.times.append((time.perf_counter() - self.asked) * 1000)
        if self.closes:
            # A stopping server: another request would not be read.
            self.asked = None
            self.transport.close()
        else:
            self.ask()

    def connection_lost(self, error: Exception | None) -> None:
        if self.asked is not None:
            self.seen.lost += 1
        if not self.closed.done():
            self.closed.set_result(None)


def request(body: bytes, content_type: str = "application/json") -> bytes:
    head = f"POST /invocations HTTP/1.1\r\nHost: localhost\r\nContent-Type: {content_type}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


async def drive(port: int, bodies: list[bytes], clients: int, first: int, warm: float, seconds: float) -> Seen:
    seen = Seen()
    requests = islice(cycle([request(body) for body in bodies]), first % len(bodies), None)
    begin = time.perf_counter() + warm
    loop = asyncio.get_running_loop()

    async def run() -> None:
        closed = loop.create_future()
        try:
            await loop.create_connection(lambda: Client(requests, begin, begin + seconds, seen, closed), "127.0.0.1", port)
        except OSError:
            seen.refused += 1
            return
        await closed

    used = time.process_time()
    await asyncio.gather(*(run() for _ in range(clients)))
    seen.generator = (time.process_time() - used) / (warm + seconds)
    # Answers to requests that began in time come a little later.
    seen.seconds = max(seconds, time.perf_counter() - begin)
    return seen


def part(results: multiprocessing.Queue, *arguments) -> None:
    results.put(asyncio.run(drive(*arguments)))


class Load:
    """Clients that have begun to ask, in processes of their own; `with` ends them."""

    def __init__(self, port: int, bodies: list[bytes], clients: int, seconds: float, warm: float = 0.0):
        processes = max(1, min(clients, (os.cpu_count() or 1) // 3, 6))
        context = multiprocessing.get_context("fork")
        self.results = context.Queue()
        shares = [clients // processes + (number < clients % processes) for number in range(processes)]
        self.parts = [
            context.Process(
                target=part, args=(self.results, port, bodies, share, number * len(bodies) // processes, warm, seconds), daemon=True
            )
            for number, share in enumerate(shares)
        ]
        for process in self.parts:
            process.start()

    def seen(self) -> Seen:
        """Waits until their time is over."""
        seen = Seen()
        for _ in self.parts:
            seen.add(self.results.get())
        return seen

    def __enter__(self) -> "Load":
        return self

    def __exit__(self, *_) -> None:
        for process in self.parts:
            process.terminate()


def ask(port: int, bodies: list[bytes], clients: int, seconds: float, warm: float = 0.0) -> Seen:
    with Load(port, bodies, clients, seconds, warm) as load:
        return load.seen()
