"""Measures Berth on this machine, part by part, and writes summary.md after each: so the first parts have results in any case.

Each part has a time limit, and all together have one. A part that fails says why, and the next one begins.
"""

import argparse
import json
import lzma
import os
import platform
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import torch

import weights
from load import Load, ask
from server import HERE, PORT, Server, expanded, gpu

# Scores of fp16 differ between a CPU and a GPU by rounding. Answers that are nearer to each other may change places.
NEAR = 0.02


@dataclass(frozen=True)
class Effort:
    """How long and how much is measured."""

    seconds: float
    warm: float
    batches: list[int]
    bare_seconds: float
    memory_seconds: float
    records: int
    # How many reference questions are asked where both precisions are compared.
    compared: int
    # Characters of each of four contexts in a request that is too large.
    large: int


EFFORTS = {
    "gpu": Effort(5, 3, [1, 8, 32, 64, 96, 128, 256, 512], 1, 40, 100_000, 1000, 20_000),
    # A dry run: its figures say nothing, so it is short.
    "cpu": Effort(2, 1, [1, 8], 1, 6, 300, 20, 1500),
}


class Measurement:
    def __init__(self, device: str, output: Path):
        self.device, self.output, self.effort = device, output, EFFORTS[device]
        self.model = HERE / "run-fp16"
        # What a part has found so far, in case its time is over before its end.
        self.partial = {}
        self.cases = lines(HERE / "reference.jsonl")
        self.bodies = [json.dumps(case).encode() for case in lines(HERE / "questions.jsonl")]
        random.Random(7).shuffle(self.bodies)

    def server(self, *flags: str, model: Path | None = None, log_level: str = "warn", **variables: str) -> Server:
        log = self.output / "server.log"
        return Server(model or self.model, self.device, log, "--log-level", log_level, *flags, variables=variables)

    def artifact(self, precision: str, content: dict[str, bytes], description: Path) -> Path:
        """An artifact for this device of a file for GPUs."""
        directory = HERE / f"run-{precision}"
        shutil.rmtree(directory, ignore_errors=True)
        shutil.copytree(HERE / "model", directory, ignore=shutil.ignore_patterns("*.xz"))
        weights.write(content, directory / "model.pt")
        described = json.loads(description.read_text(encoding="utf-8")) | {"target": self.device}
        (directory / "model.json").write_text(json.dumps(described), encoding="utf-8")
        return directory

    def make_artifact(self) -> None:
        file = HERE / "model.pt"
        file.write_bytes(lzma.decompress((HERE / "model/model.pt.xz").read_bytes()))
        self.artifact("fp16", weights.read(file), HERE / "model/model.json")

    def answers(self) -> dict:
        """Loads the model and asks the reference questions. Their answers were found by Python on a CPU, in fp16."""
        # With a line for each request; the others would fill the disk.
        with self.server(log_level="info") as server:
            found = {"memory MiB": server.memory_mib(), **compared(server, self.cases)}
        return found | problem(found["others"], "answers differ that are no near ties")

    def batch_too_large(self) -> dict:
        """Leaves little of the GPU's memory, and asks for a batch that needs more while others ask small questions.

        On a CPU no memory is taken away, so that both are 200.
        """
        long = max((expanded(case["context"]) for case in self.cases), key=len)
        large = "\n".join(json.dumps({"question": f"What is it? {number}", "context": long[: self.effort.large]}) for number in range(4))
        with self.server() as server:
            hold = subprocess.Popen(
                [sys.executable, HERE / "hold.py", self.device, "64"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
            )
            try:
                if hold.stdout.readline() != "held\n":
                    raise RuntimeError("hold.py ended before it had taken the memory")
                with Load(PORT, short(self.bodies), 2, 4 * self.effort.seconds) as load:
                    status, text = server.invoke(large, "application/jsonlines")
                    beside = load.seen().figures()
            finally:
                hold.stdin.close()
                hold.wait(30)
            after, _ = server.invoke(large, "application/jsonlines")
            found = {
                "status": status,
                "message": text[:300] if status != 200 else "",
                "others meanwhile": str(beside["statuses"]),
                "status with memory": after,
            }
            expected = (507 if self.device == "gpu" else 200, 200, {"200"})
            return found | problem((status, after, set(beside["statuses"])) != expected, f"expected {expected}")

    def restart(self) -> dict:
        """Starts, stops and starts again."""
        server = self.server()
        try:
            first = server.start()
            idle = server.memory_mib()
            server.terminate()
            code = server.wait(30)
            again = server.start()
            status, _ = server.invoke(self.bodies[0].decode())
            found = {"first start s": first, "exit code": code, "second start s": again, "answer": status, "memory MiB": idle}
            return found | problem((code, status) != (0, 200), "expected exit code 0 and answer 200")
        finally:
            server.__exit__()

    def sigterm(self) -> dict:
        """SIGTERM while 64 clients ask. A client leaves when an answer says that its connection closes."""
        with self.server() as server, Load(PORT, self.bodies, 64, 30) as load:
            time.sleep(self.effort.seconds)
            began = time.perf_counter()
            server.terminate()
            code = server.wait(40)
            stopped = time.perf_counter() - began
            seen = load.seen()
            found = {"exit code": code, "seconds to stop": round(stopped, 2), "statuses": seen.figures()["statuses"], "lost": seen.lost}
            return found | problem((code, seen.lost) != (0, 0), "expected exit code 0 and no request lost")

    def throughput(self) -> dict:
        """1, 16, 64 and 256 clients, and the CPU time that the server takes for an answer."""
        found = {}
        with self.server() as server:
            ask(PORT, self.bodies, 64, self.effort.warm)
            for clients in (1, 16, 64, 256):
                used = cpu_seconds(server.process.pid)
                # Warm by now: each answer counts, as its CPU time does.
                seen = ask(PORT, self.bodies, clients, self.effort.seconds)
                answers = sum(seen.statuses.values())
                milliseconds = 1000 * (cpu_seconds(server.process.pid) - used) / max(1, answers)
                found[f"{clients} clients"] = seen.figures() | {"CPU ms/answer": round(milliseconds, 3)}
        return found

    def bare(self) -> dict:
        """The same file in a loop in Python, without a server and without tokenising."""
        sizes = [str(size) for size in self.effort.batches]
        command = [sys.executable, HERE / "bare.py", self.model / "model.pt", HERE / "tokens.json"]
        command += [self.device, str(self.effort.bare_seconds), *sizes]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
            found = []
            try:
                for line in process.stdout:
                    found = json.loads(line)
                code = process.wait()
            finally:
                process.kill()
        if not found:
            raise RuntimeError("bare.py ended without a figure")
        best = max(found, key=lambda size: size["like length"])
        rates = {f"batches of {size['batch']}": {name: round(rate, 1) for name, rate in size.items() if name != "batch"} for size in found}
        found = rates | {"best batch": best["batch"], "best rows/s": round(best["like length"], 1)}
        return found | problem(code, f"bare.py ended with {code} behind the last batch")

    def settings(self) -> dict:
        """64 and 256 clients with other limits of a batch, and with two workers."""
        found = {}
        for flags in (
            "",
            "--max-batch-size 8",
            "--max-batch-size 64",
            "--max-batch-size 128",
            "--max-batch-tokens 4096",
            "--max-batch-tokens 8192",
            "--max-batch-delay-ms 2",
            "--workers 2",
        ):
            with self.server(*flags.split()):
                ask(PORT, self.bodies, 64, self.effort.warm)
                for clients in (64, 256):
                    seen = ask(PORT, self.bodies, clients, 0.6 * self.effort.seconds, 0.3)
                    found[f"{flags or 'defaults'}, {clients} clients"] = seen.figures()
                    self.partial = dict(found)
        return found

    def bf16(self) -> dict:
        """The weights in bf16: answers, and the load of 64 clients in turn with fp16."""
        rest = weights.read(HERE / "bf16-rest.zip")
        other = self.artifact("bf16", weights.fill(weights.read(self.model / "model.pt"), rest), HERE / "bf16-model.json")
        found = {}
        for name, model in (("fp16", self.model), ("bf16", other)):
            with self.server(model=model) as server:
                equal = compared(server, self.cases[: self.effort.compared])["equal"]
                ask(PORT, self.bodies, 64, self.effort.warm)
                found[name] = {"equal to fp16 on the CPU": equal, **ask(PORT, self.bodies, 64, self.effort.seconds, 0.3).figures()}
        return found

    def memory(self) -> dict:
        """Requests of all lengths, and the memory that is used every few seconds; with segments that can grow, and without."""
        long = [json.dumps({"question": case["question"], "context": expanded(case["context"])[:6000]}).encode() for case in self.cases]
        mixed = self.bodies + long
        random.Random(11).shuffle(mixed)
        found = {}
        ways = {"expandable_segments:True": {}, "segments of a fixed size": {"PYTORCH_CUDA_ALLOC_CONF": "expandable_segments:False"}}
        for name, variables in ways.items():
            with self.server(**variables) as server, Load(PORT, mixed, 64, self.effort.memory_seconds) as load:
                used = [server.memory_mib()]
                for _ in range(10):
                    time.sleep(self.effort.memory_seconds / 10)
                    used.append(server.memory_mib())
                seen = load.seen()
                found[name] = {"requests": sum(seen.statuses.values()), "MiB over time": used, **seen.figures()}
                self.partial = dict(found)
        return found

    def batch_runner(self) -> dict:
        """./transform over many questions in one file of JSON Lines."""
        directory, output = HERE / "transform-input", HERE / "transform-output"
        shutil.rmtree(output, ignore_errors=True)
        directory.mkdir(exist_ok=True)
        with open(directory / "questions.jsonl", "wb") as file:
            for number in range(self.effort.records):
                file.write(self.bodies[number % len(self.bodies)] + b"\n")
        command = [HERE / "berth/transform", "--model-dir", self.model, "--instance-type", self.device]
        command += ["--input", directory, "--output", output]
        for option in ("--content-type", "--accept"):
            command += [option, "application/jsonlines"]
        for option in ("--split-type", "--assemble-with"):
            command += [option, "Line"]
        began = time.perf_counter()
        with (
            open(self.output / "server.log", "ab") as log,
            subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True) as process,
        ):
            try:
                told = process.communicate()[0]
            finally:
                process.kill()
        wall = round(time.perf_counter() - began, 1)
        report = re.findall(r"^(status|records|errors|time|records/s) +(.+)$", told, re.MULTILINE)
        found = {"exit code": process.returncode, "wall s": wall, **dict(report)}
        return found | problem(process.returncode, "expected exit code 0")


def problem(is_wrong: object, what: str) -> dict[str, str]:
    """What is said of a part that did not find what it should have."""
    return {"problem": what} if is_wrong else {}


def compared(server: Server, cases: list[dict]) -> dict:
    """How many answers to lines of reference.jsonl are those that Python gave on a CPU."""
    others, apart = [], 0.0
    for case in cases:
        found, expected = server.answer(case), case["answers"]
        same = [spot(one) for one in found] == [spot(one) for one in expected]
        if same:
            apart = max([apart, *(abs(one["score"] - other["score"]) for one, other in zip(found, expected, strict=True))])
        else:
            others.append({"name": case["name"], "margin": case["margin"], "found": found[:2], "expected": expected[:2]})
    real = [other for other in others if other["margin"] > NEAR]
    return {
        "questions": len(cases),
        "equal": len(cases) - len(others),
        "others that are near ties": len(others) - len(real),
        "others": real[:5],
        "largest difference of scores": round(apart, 5),
    }


def parts(measurement: Measurement) -> list[tuple[str, int, Callable[[], dict]]]:
    """Names, seconds that each may take of 8 minutes, and what they do, the most important ones first."""
    return [
        ("answers", 60, measurement.answers),
        ("batch too large", 60, measurement.batch_too_large),
        ("restart", 40, measurement.restart),
        ("SIGTERM under load", 60, measurement.sigterm),
        ("throughput", 60, measurement.throughput),
        ("bare model", 60, measurement.bare),
        ("settings", 150, measurement.settings),
        ("bf16", 60, measurement.bf16),
        ("memory", 120, measurement.memory),
        ("batch runner", 90, measurement.batch_runner),
    ]


class TimeOver(Exception):
    pass


def time_over(*_) -> None:
    raise TimeOver


def measure(measurement: Measurement, machine: dict, minutes: float, only: list[str]) -> bool:
    """Whether every part has ended well."""
    end = time.monotonic() + 60 * minutes
    results = {}
    signal.signal(signal.SIGALRM, time_over)
    for name, limit, part in parts(measurement):
        if only and name not in only:
            continue
        began = time.monotonic()
        seconds = min(limit * minutes / 8, end - began)
        print(f"tools/gpu/run: {name} ...", file=sys.stderr, flush=True)
        measurement.partial = {}
        if seconds < 1:
            results[name] = {"problem": "no time was left"}
        else:
            signal.setitimer(signal.ITIMER_REAL, seconds)
            try:
                results[name] = part()
            except TimeOver:
                results[name] = {"problem": f"not finished within {seconds:.0f} s"}
            except Exception as error:
                results[name] = {"problem": f"{type(error).__name__}: {error}"}
            finally:
                signal.setitimer(signal.ITIMER_REAL, 0)
            if "problem" in results[name] and measurement.partial:
                results[name] |= measurement.partial
        results[name]["seconds"] = round(time.monotonic() - began, 1)
        write(measurement.output, machine, results)
    return not any("problem" in result for result in results.values())


def write(output: Path, machine: dict, results: dict) -> None:
    found = json.dumps({"machine": machine, "parts": results}, indent=1, ensure_ascii=False)
    (output / "results.json").write_text(found, encoding="utf-8")
    text = ["# Berth on this machine", "", *table(machine)]
    for name, result in results.items():
        text += ["", f"## {name}", "", *table(result)]
    rate = results.get("throughput", {}).get("64 clients", {}).get("answers/s")
    best = results.get("bare model", {}).get("best rows/s")
    if rate and best:
        text += ["", f"64 clients: {rate / best:.3f} of the bare model at its best batch."]
    (output / "summary.md").write_text("\n".join(text) + "\n", encoding="utf-8")


def table(result: dict) -> list[str]:
    """A table of the values that have columns themselves, and one of the others."""
    wide = {name: value for name, value in result.items() if isinstance(value, dict) and name != "statuses"}
    plain = {name: value for name, value in result.items() if name not in wide}
    columns = list(dict.fromkeys(column for value in wide.values() for column in value))
    rows = []
    if wide:
        rows += ["| | " + " | ".join(columns) + " |", "|---" * (len(columns) + 1) + "|"]
        rows += [f"| {name} | " + " | ".join(shown(value.get(column, "")) for column in columns) + " |" for name, value in wide.items()]
        rows.append("")
    return rows + ["| | |", "|---|---|"] + [f"| {name} | {shown(value)} |" for name, value in plain.items()]


def shown(value) -> str:
    return str(value).replace("|", "/").replace("\n", " ")


def spot(answer: dict) -> tuple:
    return answer["answer"], answer["start"], answer["end"]


def short(bodies: list[bytes]) -> list[bytes]:
    return sorted(bodies, key=len)[:20]


def lines(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def cpu_seconds(process: int) -> float:
    fields = Path(f"/proc/{process}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def described(device: str, compile_seconds: int) -> dict:
    processors = re.findall(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(encoding="utf-8"), re.MULTILINE)
    machine = {
        "Berth": (HERE / "commit").read_text(encoding="utf-8").strip(),
        "device": device,
        "torch": torch.__version__,
        "Python": platform.python_version(),
        "cores": os.cpu_count(),
        "processor": processors[0] if processors else "?",
        "compiling the JNI library s": compile_seconds,
    }
    if device == "gpu":
        machine |= {"GPU, driver, memory": gpu("name,driver_version,memory.total"), "CUDA": torch.version.cuda}
    return machine


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--device", choices=EFFORTS, required=True)
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--minutes", type=float, required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--compile-seconds", type=int, required=True)
    arguments = parser.parse_args()
    measurement = Measurement(arguments.device, arguments.output)
    measurement.make_artifact()
    machine = described(arguments.device, arguments.compile_seconds)
    only = [name for name in arguments.only.split(",") if name]
    well = measure(measurement, machine, arguments.minutes, only)
    print((arguments.output / "summary.md").read_text(encoding="utf-8"))
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
