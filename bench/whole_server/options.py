"""The command line of bench/run."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

SECTIONS = {
    "load": "throughput at 16 and 64 clients, latency of a lonely client, fairness (goals 1 to 3)",
    "curve": "latency against load, open loop; the plot",
    "overload": "three times the capacity, open loop (goal 4)",
    "overhead": "hooks that do nothing against a bare Javalin handler (goal 5)",
    "heap": "what a question takes of the Java heap (goal 5)",
    "start": "from exec to the first answer (goal 6)",
    "memory": "resident memory after so many requests; once, not in each round (goal 6)",
    "models": "many models: memory, load and unload, throughput over 1, 10 and 50; once",
    "batch": "a request of 5 MB of JSON Lines, and a lonely client meanwhile (goal 8)",
}


@dataclass(frozen=True)
class Options:
    rounds: int
    seconds: int
    warm_seconds: int
    quick: bool
    sections: list[str]
    model: Path | None
    memory_requests: int
    mini_batch_bytes: int
    cores: int


def parse(arguments: list[str]) -> Options:
    sections = "\n".join(f"  {name:9} {meaning}" for name, meaning in SECTIONS.items())
    parser = argparse.ArgumentParser(
        prog="bench/run",
        description="Measures Berth, FastAPI and the bare model in turn, and writes bench/RESULTS.md.",
        epilog=f"sections:\n{sections}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=positive, default=5, help="how often all is measured (5)")
    parser.add_argument("--seconds", type=positive, default=8, help="length of one measurement (8)")
    parser.add_argument(
        "--warm-seconds", type=positive, default=60, help="how long a server is asked before it is measured (60)"
    )
    parser.add_argument("--quick", action="store_true", help="one round of 2 s with small loads, to see that it works")
    parser.add_argument("--only", metavar="SECTION,…", help="some sections; the files of results stay as they are")
    parser.add_argument(
        "--model",
        type=Path,
        metavar="DIR",
        help="Hugging Face directory of the sample model, for the FastAPI sample as published",
    )
    parser.add_argument(
        "--memory-requests", type=positive, default=10_000, metavar="N", help="requests of the section memory (10000)"
    )
    given = parser.parse_args(arguments)
    chosen = given.only.split(",") if given.only else list(SECTIONS)
    if unknown := [name for name in chosen if name not in SECTIONS]:
        parser.error(f"--only: found {', '.join(unknown)}, expected some of {', '.join(SECTIONS)}")
    if given.model and not (given.model / "config.json").is_file():
        parser.error(f"--model: found no config.json in {given.model}")
    return Options(
        rounds=1 if given.quick else given.rounds,
        seconds=2 if given.quick else given.seconds,
        warm_seconds=1 if given.quick else given.warm_seconds,
        quick=given.quick,
        sections=[name for name in SECTIONS if name in chosen],
        model=given.model,
        memory_requests=min(given.memory_requests, 1000) if given.quick else given.memory_requests,
        mini_batch_bytes=250_000 if given.quick else 5_000_000,
        cores=len(os.sched_getaffinity(0)),
    )


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"found {number}, expected at least 1")
    return number
