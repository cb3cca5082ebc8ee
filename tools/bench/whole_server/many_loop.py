"""So many clients, each of which asks one of several models, chosen at random, as soon as it has its answer.

python -m whole_server.many_loop BODIES CLIENTS SECONDS SEED URL...

wrk can't ask several servers. Prints, as JSON, how many answers of status 200 came, in all and in a second, the median
and the 99th percentile of their times in milliseconds, and how many requests failed.
"""

import asyncio
import json
import random
import sys
import time
from pathlib import Path

import aiohttp
import uvloop

from whole_server.statistics import percentile

HEADERS = {"Content-Type": "application/json"}
LONGEST_SECONDS = 120


class Clients:
    """What all clients share, and what they saw."""

    def __init__(self, session: aiohttp.ClientSession, urls: list[str], bodies: list[bytes], seed: int) -> None:
        self.session = session
        self.urls = urls
        self.bodies = bodies
        self.chance = random.Random(seed)
        self.next = seed
        self.times: list[float] = []
        self.failed = 0

    async def ask(self, end: float) -> None:
        while (begin := time.perf_counter()) < end:
            self.next += 1
            body = self.bodies[self.next % len(self.bodies)]
            if await self.status(self.chance.choice(self.urls), body) == 200:
                self.times.append((time.perf_counter() - begin) * 1000)
            else:
                self.failed += 1

    async def status(self, url: str, body: bytes) -> int:
        try:
            async with self.session.post(url, data=body, headers=HEADERS) as response:
                await response.read()
                return response.status
        except (aiohttp.ClientError, TimeoutError):
            return 0


async def main(bodies: Path, clients: int, seconds: float, seed: int, urls: list[str]) -> None:
    limits = aiohttp.ClientTimeout(total=LONGEST_SECONDS)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=limits) as session:
        all_clients = Clients(session, urls, bodies.read_bytes().splitlines(), seed)
        begin = time.perf_counter()
        await asyncio.gather(*(all_clients.ask(begin + seconds) for _ in range(clients)))
        passed = time.perf_counter() - begin
    times = all_clients.times
    print(
        json.dumps(
            {
                "answers": len(times),
                "rate": len(times) / passed,
                "p50": percentile(times, 0.5),
                "p99": percentile(times, 0.99),
                "failed": all_clients.failed,
            }
        )
    )


if __name__ == "__main__":
    file, number, duration, first, *addresses = sys.argv[1:]
    uvloop.run(main(Path(file), int(number), float(duration), int(first), addresses))
