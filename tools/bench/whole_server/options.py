"""The command line of tools/bench/run."""

import argparse
import os
from dataclasses import dataclass
from pathlib import Path

SECTIONS = {
    "peak": "what the cores multiply at most, and what an answer has to multiply",
    "load": "throughput at 16 and 64 clients, latency of a single client, fairness (goals 1 to 3)",
    "neighbour": "a single client beside a process that takes half a core, and with the limit of a container",
    "curve": "latency against load, open loop; the plot",
    "overload": "three times the capacity, open loop (goal 4)",
    "overhead": "hooks that do nothing against a bare Javalin handler (goal 5)",
    "heap": "what a question takes of the Java heap; once (goal 5)",
    "start": "from exec to the first answer (goal 6)",
    "memory": "resident memory after so many requests; once (goal 6)",
    "models": "many models: memory, load and unload, throughput over 1, 10 and 50; once",
    "tasks": "other tasks and BERT-base, 110 million parameters; once",
    "small": "small requests: rows of tables and pictures of 100 KB, beside FastAPI and MLServer; once",
    "batch": "a large request of JSON Lines, and a single client meanwhile; once (goal 8)",
}
# Measured in the first round only.
ONCE = {"heap", "memory", "models", "tasks", "small", "batch"}
# Measured on servers that stay up in all rounds.
COMPARING = {"load", "neighbour", "curve"}


@dataclass(frozen=True)
class Options:
    rounds: int
    seconds: int
    warm_seconds: int
    quick: bool
    busy: bool
    long: bool
    sections: list[str]
    model: Path | None
    djl_serving: Path | None
    mlserver: Path | None
    memory_requests: int
    mini_batch_bytes: int
    cores: int


def parse(arguments: list[str]) -> Options:
    sections = "\n".join(f"  {name:9} {meaning}" for name, meaning in SECTIONS.items())
    parser = argparse.ArgumentParser(
        prog="tools/bench/run",
        description="Measures Berth, FastAPI and the bare model in turn, and writes tools/bench/RESULTS.md.",
        epilog=f"sections:\n{sections}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("--rounds", type=positive, default=3, help="how often all is measured (3)")
    parser.add_argument("--seconds", type=positive, default=4, help="length of one measurement (4)")
    parser.add_argument(
        "--warm-seconds",
        type=positive,
        default=10,
        help="a step in which a server is asked before it is measured: six for those of load, neighbour and curve, else two to five (10)",
    )
    parser.add_argument("--quick", action="store_true", help="one round of 2 s with small loads, to see that it works")
    parser.add_argument("--busy", action="store_true", help="measure on a busy machine too; the results are marked")
    parser.add_argument(
        "--long", action="store_true", help="memory up to 200,000 requests, and a batch of 5 MB in place of 2"
    )
    parser.add_argument("--only", metavar="SECTION,…", help="some sections; the files of results stay as they are")
    parser.add_argument(
        "--model",
        type=Path,
        metavar="DIR",
        help="Hugging Face directory of the sample model, for FastAPI as published",
    )
    parser.add_argument(
        "--djl-serving", type=Path, metavar="DIR", help="distribution of DJL Serving, as a peer: its jars are in DIR/lib"
    )
    parser.add_argument(
        "--mlserver",
        type=Path,
        metavar="DIR",
        help="virtual environment with mlserver and onnxruntime, as a peer of the section small",
    )
    given = parser.parse_args(arguments)
    chosen = given.only.split(",") if given.only else list(SECTIONS)
    if unknown := [name for name in chosen if name not in SECTIONS]:
        parser.error(f"--only: found {', '.join(unknown)}, expected some of {', '.join(SECTIONS)}")
    if given.model and not (given.model / "config.json").is_file():
        parser.error(f"--model: found no config.json in {given.model}")
    if given.djl_serving and not any(given.djl_serving.glob("lib/*.jar")):
        parser.error(f"--djl-serving: found no lib/*.jar in {given.djl_serving}")
    if given.mlserver and not (given.mlserver / "bin" / "mlserver").is_file():
        parser.error(f"--mlserver: found no bin/mlserver in {given.mlserver}")
    return Options(
        rounds=1 if given.quick else given.rounds,
        seconds=2 if given.quick else given.seconds,
        warm_seconds=1 if given.quick else given.warm_seconds,
        quick=given.quick,
        busy=given.busy,
        long=given.long,
        sections=[name for name in SECTIONS if name in chosen],
        model=given.model and given.model.resolve(),
        djl_serving=given.djl_serving and given.djl_serving.resolve(),
        mlserver=given.mlserver and given.mlserver.absolute(),
        memory_requests=1000 if given.quick else 200_000 if given.long else 10_000,
        mini_batch_bytes=250_000 if given.quick else 5_000_000 if given.long else 2_000_000,
        cores=len(os.sched_getaffinity(0)),
    )


def positive(text: str) -> int:
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"found {number}, expected at least 1")
    return number
