"""Requests that arrive when they do, whatever the server makes of those before: a load that can exceed its capacity.

python -m whole_server.open_loop URL BODIES RATE SECONDS TIMEOUT SEED

Arrivals are a Poisson process, the same for the same seed. Meanwhile /ping is asked every 100 ms. Prints, as JSON, of
each request when it was due in seconds, how long after that its answer was complete in milliseconds, and the status (0:
none); and how long each ping took. Counting from when a request was due charges a late send to the server that kept the
machine busy.
"""

import asyncio
import json
import random
import sys
import time
from pathlib import Path
from urllib.parse import urljoin

import aiohttp
import uvloop

PING_SECONDS = 0.1
HEADERS = {"Content-Type": "application/json"}


def arrivals(rate: float, seconds: float, seed: int) -> list[float]:
    chance = random.Random(seed)
    times = []
    now = chance.expovariate(rate)
    while now < seconds:
        times.append(now)
        now += chance.expovariate(rate)
    return times


async def status_of(request: aiohttp.client._RequestContextManager) -> int:
    try:
        async with request as response:
            await response.read()
            return response.status
    except (aiohttp.ClientError, TimeoutError):
        return 0


async def post(session: aiohttp.ClientSession, url: str, body: bytes, due: float) -> tuple[float, int]:
    status = await status_of(session.post(url, data=body, headers=HEADERS))
    return (time.perf_counter() - due) * 1000, status


async def ping(session: aiohttp.ClientSession, url: str, begin: float, seconds: float) -> list[float]:
    times = []
    for number in range(int(seconds / PING_SECONDS)):
        due = begin + number * PING_SECONDS
        await asyncio.sleep(due - time.perf_counter())
        if await status_of(session.get(url)) == 200:
            times.append((time.perf_counter() - due) * 1000)
    return times


async def main(url: str, bodies_file: str, rate: float, seconds: float, timeout: float, seed: int) -> None:
    bodies = Path(bodies_file).read_bytes().splitlines()
    due = arrivals(rate, seconds, seed)
    limits = aiohttp.ClientTimeout(total=timeout)
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0), timeout=limits) as session:
        begin = time.perf_counter()
        pings = asyncio.create_task(ping(session, urljoin(url, "/ping"), begin, seconds))
        requests = []
        for number, offset in enumerate(due):
            if (wait := begin + offset - time.perf_counter()) > 0:
                await asyncio.sleep(wait)
            body = bodies[(seed + number) % len(bodies)]
            requests.append(asyncio.create_task(post(session, url, body, begin + offset)))
        results = await asyncio.gather(*requests)
        ping_times = await pings
    samples = [[offset, *result] for offset, result in zip(due, results, strict=True)]
    print(json.dumps({"requests": samples, "pings": ping_times}))


if __name__ == "__main__":
    address, file, *numbers = sys.argv[1:]
    uvloop.run(main(address, file, *(float(number) for number in numbers[:3]), seed=int(numbers[3])))
