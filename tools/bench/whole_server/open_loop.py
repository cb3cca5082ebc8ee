"""Requests that arrive when they do, whatever the server makes of those before: a load that can exceed its capacity.

python -m whole_server.open_loop URL BODIES RATE SECONDS TIMEOUT SEED

Arrivals are a Poisson process, the same for the same seed. Meanwhile /ping is asked every 100 ms. Prints, as JSON, of
each request when it was due in seconds, how long after that its answer was complete in milliseconds, and the status (0:
none within TIMEOUT seconds of the last arrival); and how long each ping took. Counting from when a request was due
charges a late send to the server that kept the machine busy.

It shares the cores with the server, so it takes as little of them as Python can: uvloop's sockets and httptools' parser,
without a client between them.
"""

import asyncio
import json
import random
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from urllib.parse import urlsplit

import httptools
import uvloop

PING_SECONDS = 0.1
PING_TIMEOUT = 60


class Connection(asyncio.Protocol):
    """Asks one request at a time, and joins those that are idle when it has the answer."""

    def __init__(self, idle: list["Connection"]) -> None:
        self.idle = idle
        self.over: Callable[[int], None] | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.parser = httptools.HttpResponseParser(self)

    def ask(self, request: bytes, over: Callable[[int], None]) -> None:
        self.over = over
        self.transport.write(request)

    def data_received(self, data: bytes) -> None:
        self.parser.feed_data(data)

    def on_message_complete(self) -> None:
        over, self.over = self.over, None
        if over is None:
            # Such as 408 to a connection that was idle.
            self.transport.close()
            return
        if self.parser.should_keep_alive():
            self.idle.append(self)
        else:
            self.transport.close()
        over(self.parser.get_status_code())

    def connection_lost(self, error: Exception | None) -> None:
        if self in self.idle:
            self.idle.remove(self)
        if self.over:
            self.over(0)


class Client:
    def __init__(self, url: str) -> None:
        self.address = urlsplit(url)
        self.idle: list[Connection] = []
        self.connecting: set[asyncio.Task] = set()

    def request(self, method: str, path: str, body: bytes = b"") -> bytes:
        head = f"{method} {path} HTTP/1.1\r\nHost: {self.address.netloc}\r\n"
        if body:
            head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
        return f"{head}\r\n".encode() + body

    def ask(self, request: bytes, due: float) -> asyncio.Future:
        """Sends a request. What comes of it is how long after `due` it was over, in milliseconds, and the status."""
        result = asyncio.get_running_loop().create_future()
        over = partial(self.over, result, due)
        if self.idle:
            self.idle.pop().ask(request, over)
        else:
            self.connecting.add(task := asyncio.create_task(self.connect(request, over)))
            task.add_done_callback(self.connecting.discard)
        return result

    @staticmethod
    def over(result: asyncio.Future, due: float, status: int) -> None:
        if not result.done():
            result.set_result(((time.perf_counter() - due) * 1000, status))

    async def connect(self, request: bytes, over: Callable[[int], None]) -> None:
        try:
            _, connection = await asyncio.get_running_loop().create_connection(
                partial(Connection, self.idle), self.address.hostname, self.address.port
            )
            connection.ask(request, over)
        except OSError:
            over(0)


def arrivals(rate: float, seconds: float, seed: int) -> list[float]:
    chance = random.Random(seed)
    times = []
    now = chance.expovariate(rate)
    while now < seconds:
        times.append(now)
        now += chance.expovariate(rate)
    return times


async def due_at(moment: float) -> None:
    if (wait := moment - time.perf_counter()) > 0:
        await asyncio.sleep(wait)


async def ping(client: Client, begin: float, seconds: float) -> list[float]:
    times = []
    for number in range(int(seconds / PING_SECONDS)):
        due = begin + number * PING_SECONDS
        await due_at(due)
        asked = client.ask(client.request("GET", "/ping"), due)
        await asyncio.wait([asked], timeout=PING_TIMEOUT)
        if not asked.done():
            break
        if asked.result()[1] == 200:
            times.append(asked.result()[0])
    return times


async def main(url: str, bodies_file: str, rate: float, seconds: float, timeout: float, seed: int) -> None:
    client = Client(url)
    path = client.address.path
    requests = [client.request("POST", path, body) for body in Path(bodies_file).read_bytes().splitlines()]
    due = arrivals(rate, seconds, seed)
    begin = time.perf_counter()
    pings = asyncio.create_task(ping(client, begin, seconds))
    results = []
    for number, offset in enumerate(due):
        await due_at(begin + offset)
        results.append(client.ask(requests[(seed + number) % len(requests)], begin + offset))
    await asyncio.wait(results, timeout=timeout)
    for result, offset in zip(results, due, strict=True):
        client.over(result, begin + offset, 0)
    samples = [[offset, *result.result()] for offset, result in zip(due, results, strict=True)]
    print(json.dumps({"requests": samples, "pings": await pings}))


if __name__ == "__main__":
    address, file, *numbers = sys.argv[1:]
    uvloop.run(main(address, file, *(float(number) for number in numbers[:3]), seed=int(numbers[3])))
