"""The bare model in a loop in Python: no server can answer more on top of it.

python -m whole_server.bare_loop MODEL TOKENIZER BODIES PROCESSES THREADS WARM-SECONDS SECONDS

Prints, as JSON, the answers of all processes, the seconds that they took and how long each answer took in milliseconds.
"""

import json
import multiprocessing
import sys
import time
from multiprocessing.synchronize import Barrier
from pathlib import Path

from whole_server.answering import Answerer


def loop(answerer: Answerer, bodies: list[str], first: int, seconds: float) -> list[float]:
    times = []
    end = time.perf_counter() + seconds
    number = first
    while time.perf_counter() < end:
        begin = time.perf_counter()
        body = json.loads(bodies[number % len(bodies)])
        json.dumps(answerer.answer(body["question"], body["context"]))
        times.append((time.perf_counter() - begin) * 1000)
        number += 1
    return times


def measure(arguments: list[str], part: int, ready: Barrier, results: multiprocessing.Queue) -> None:
    model, tokenizer, bodies_file = (Path(argument) for argument in arguments[:3])
    processes, threads = int(arguments[3]), int(arguments[4])
    bodies = bodies_file.read_text(encoding="utf-8").splitlines()
    answerer = Answerer(model, tokenizer, threads)
    first = len(bodies) // processes * part
    loop(answerer, bodies, first, float(arguments[5]))
    ready.wait()
    begin = time.perf_counter()
    times = loop(answerer, bodies, first, float(arguments[6]))
    results.put((time.perf_counter() - begin, times))


def main(arguments: list[str]) -> None:
    context = multiprocessing.get_context("spawn")
    processes = int(arguments[3])
    ready, results = context.Barrier(processes), context.Queue()
    parts = [context.Process(target=measure, args=(arguments, part, ready, results)) for part in range(processes)]
    for part in parts:
        part.start()
    found = [results.get() for _ in parts]
    for part in parts:
        part.join()
    times = [time for _, part_times in found for time in part_times]
    print(json.dumps({"answers": len(times), "seconds": max(seconds for seconds, _ in found), "times": times}))


if __name__ == "__main__":
    main(sys.argv[1:])
