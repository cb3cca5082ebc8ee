"""All that is made before anything is measured: the server, the Java programs, the bodies, the peer's fp32 model."""

import json
import math
import os
import random
import re
import shutil
import subprocess
import sys
from pathlib import Path

from whole_server import places
from whole_server.cases import CASES
from whole_server.errors import BenchmarkError
from whole_server.options import Options
from whole_server.small_cases import DONE

JAVA_NEEDED = (25, 0, 3)
BODIES = 1190
SEED = 7
GOLDEN = (math.sqrt(5) - 1) / 2


def prepare(options: Options) -> None:
    if shutil.which("wrk") is None:
        raise BenchmarkError("needs wrk on the path, a load generator (Debian, Ubuntu: apt-get install wrk)")
    places.LOGS.mkdir(parents=True, exist_ok=True)
    # Builds the server where its sources are newer.
    call([str(places.SERVE), "--help"], "./serve could not be built")
    if not places.CACHE.exists() or places.CACHE.stat().st_mtime < places.JAR.stat().st_mtime:
        train()
    copy_onnx_sample()
    compile_java()
    write_bodies(options.mini_batch_bytes)
    if options.model:
        trace = [sys.executable, "-m", "whole_server.trace_published", str(options.model), str(places.PUBLISHED_MODEL)]
        call(trace, f"{options.model} could not be traced")
    if "tasks" in options.sections:
        make_tasks()
    if "small" in options.sections and not DONE.exists():
        call([sys.executable, "-m", "whole_server.make_small"], "the models of the section small could not be made")
    call(
        [sys.executable, "-c", f"import torch; torch.jit.load({str(places.MODEL)!r})"],
        f"torch can't load {places.MODEL}; make it again with trace/trace.py",
    )


def make_tasks() -> None:
    """The models of the section tasks, unless they are there from an earlier run."""
    for case in CASES:
        if not (case.onnx_artifact / "model.json").exists():
            shutil.rmtree(case.directory, ignore_errors=True)
            (case.directory / "model").mkdir(parents=True)
            what = [case.task, case.size, case.precision, str(places.TOKENIZER), str(case.directory)]
            call([sys.executable, "-m", "whole_server.make_task", *what], f"{case.name} could not be made")


def copy_onnx_sample() -> None:
    """The sample as the image for ONNX files has it: a graph whose weights are in the file of TorchScript."""
    shutil.rmtree(places.ONNX_ARTIFACT, ignore_errors=True)
    shutil.copytree(places.ARTIFACT, places.ONNX_ARTIFACT)
    (places.ONNX_ARTIFACT / places.MODEL.name).rename(places.ONNX_ARTIFACT / "model.onnx.data")
    shutil.copytree(places.ONNX_SAMPLE, places.ONNX_ARTIFACT, dirs_exist_ok=True)


def train() -> None:
    """Writes the cache of classes that the image has, in the same way. ./serve uses what stands beside its jar."""
    shutil.rmtree(places.TRAINING, ignore_errors=True)
    shutil.copytree(places.ARTIFACT, places.TRAINING)
    (places.TRAINING / "code").mkdir()
    shutil.copy(places.IMAGE / "Inference.java", places.TRAINING / "code")
    java = str(java_home() / "bin" / "java")
    call(
        [java, str(places.IMAGE / "TrainingRun.java"), str(places.SERVE), str(places.CACHE)],
        "the cache of classes could not be made",
        {"BERTH_MODEL_DIR": str(places.TRAINING)},
    )


def call(command: list[str], problem: str, environment: dict[str, str] | None = None) -> None:
    env = os.environ | (environment or {})
    done = subprocess.run(command, cwd=places.BENCH, env=env, capture_output=True, text=True)
    if done.returncode:
        reason = (done.stderr.strip() or done.stdout.strip()).splitlines()[-1:]
        raise BenchmarkError(f"{problem}: {''.join(reason)}")


def java_home() -> Path:
    """The JDK that JAVA_HOME names, else the one on the path, else one of the system's, as in ./serve."""
    named = [Path(os.environ["JAVA_HOME"])] if os.environ.get("JAVA_HOME") else []
    on_path = shutil.which("javac")
    linked = [Path(on_path).resolve().parent.parent] if on_path else []
    for home in [*named, *linked, *sorted(Path("/usr/lib/jvm").glob("*"))]:
        if (home / "bin" / "javac").is_file() and java_version(home) >= JAVA_NEEDED:
            return home
    needed = ".".join(map(str, JAVA_NEEDED))
    raise BenchmarkError(f"found no JDK {needed} or newer; point JAVA_HOME at one")


def java_version(home: Path) -> tuple[int, ...]:
    """(25, 0, 3) for 25.0.3 and 25.0.3+9, (26,) for 26-ea, nothing where there is no version."""
    release = home / "release"
    found = re.search(r'^JAVA_VERSION="([\d.]+)', release.read_text(), re.MULTILINE) if release.is_file() else None
    return tuple(int(number) for number in found[1].split(".")) if found else ()


def compile_java() -> None:
    sources = [str(source) for source in sorted((places.BENCH / "java").rglob("*.java"))]
    call(
        [str(java_home() / "bin" / "javac"), "-d", str(places.CLASSES), "-cp", str(places.JAR), *sources],
        "the programs in tools/bench/java could not be compiled",
    )


def write_bodies(mini_batch_bytes: int) -> None:
    """The same bodies in the same order in every run."""
    chance = random.Random(SEED)
    questions = places.QUESTIONS.read_text(encoding="utf-8").splitlines()
    bodies = evenly(questions * (BODIES // len(questions)) + chance.sample(questions, BODIES % len(questions)))
    write_lines(places.BODIES, bodies)
    write_lines(places.SHORT_BODIES, [json.dumps(json.loads(places.SAMPLE.read_text(encoding="utf-8")))])
    mini_batch, size = [], 0
    while size < mini_batch_bytes:
        mini_batch.append(bodies[len(mini_batch) % BODIES])
        size += len(mini_batch[-1].encode()) + 1
    write_lines(places.MINI_BATCH, mini_batch)


def evenly(bodies: list[str]) -> list[str]:
    """An order in which all lengths are met again and again: how many of them a server answers in its few seconds, and
    where it begins, must not matter."""
    order = [""] * len(bodies)
    positions = sorted(range(len(bodies)), key=lambda position: position * GOLDEN % 1)
    for position, body in zip(positions, sorted(bodies, key=len), strict=True):
        order[position] = body
    return order


def write_lines(file: Path, lines: list[str]) -> None:
    file.write_text("".join(line + "\n" for line in lines), encoding="utf-8")
