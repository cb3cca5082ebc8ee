"""Servers as processes: started in a group of their own, asked until they answer, and stopped with all of it."""

import http.client
import math
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

from whole_server import places
from whole_server.errors import BenchmarkError

START_SECONDS = 120
STOP_SECONDS = 30
SETTLE_SECONDS = 60
# Of one core.
IDLE_SHARE = 0.1


@dataclass(frozen=True)
class Server:
    """How to start a server. In its command, {port} stands for the port. It is up when `ready` answers 200: to a
    body where it is /invocations, else to GET."""

    name: str
    command: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    ready: str = "/invocations"


@dataclass(frozen=True)
class Running:
    """A server that answers."""

    name: str
    port: int
    process: subprocess.Popen
    start_seconds: float

    @property
    def url(self) -> str:
        return self.at("/invocations")

    def at(self, path: str) -> str:
        return f"http://127.0.0.1:{self.port}{path}"

    def resident_megabytes(self) -> float:
        """What its processes hold together; pages that they share count once."""
        return sum(proportional_kilobytes(pid) for pid in group(self.process.pid)) / 1000

    def settle(self) -> None:
        """Waits until it does nothing: some work on for clients that are gone, and would slow the next server."""
        end = time.perf_counter() + SETTLE_SECONDS
        busy = math.inf
        while busy > IDLE_SHARE and time.perf_counter() < end:
            before, begin = self.processor_seconds(), time.perf_counter()
            time.sleep(0.25)
            busy = (self.processor_seconds() - before) / (time.perf_counter() - begin)

    def processor_seconds(self) -> float:
        return sum(ticks(pid) for pid in group(self.process.pid)) / os.sysconf("SC_CLK_TCK")

    def check(self) -> None:
        if self.process.poll() is not None:
            raise BenchmarkError(f"{self.name} ended while it was measured: {last_line(log_file(self.name))}")


@contextmanager
def started(server: Server, body: bytes | None = None) -> Iterator[Running]:
    """Starts a server and waits until it answers with 200. /invocations is asked `body`, by default the sample question."""
    port = free_port()
    command = [part.replace("{port}", str(port)) for part in server.command]
    environment = os.environ | {name: value.replace("{port}", str(port)) for name, value in server.environment.items()}
    with log_file(server.name).open("wb") as log:
        begin = time.perf_counter()
        process = subprocess.Popen(
            command,
            cwd=places.BENCH,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        wait_for_answer(server, process, port, places.SAMPLE.read_bytes() if body is None else body)
        yield Running(server.name, port, process, time.perf_counter() - begin)
    finally:
        stop(process)


def printed(command: list[str], problem: str, environment: dict[str, str] | None = None) -> str:
    """Runs a program to its end and returns the line of JSON that it prints. Nothing that it started outlives this.

    @raises BenchmarkError: with `problem` where it fails
    """
    process = subprocess.Popen(
        command,
        cwd=places.BENCH,
        env=os.environ | (environment or {}),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
    )
    try:
        output, errors = process.communicate()
    finally:
        stop(process)
    found = [line for line in output.splitlines() if line.startswith("{")]
    if process.returncode or not found:
        raise BenchmarkError(f"{problem}: {''.join((errors.strip() or output.strip()).splitlines()[-1:])}")
    return found[0]


def wait_for_answer(server: Server, process: subprocess.Popen, port: int, body: bytes) -> None:
    end = time.perf_counter() + START_SECONDS
    while not answers(port, server.ready, body):
        log = log_file(server.name)
        if process.poll() is not None:
            raise BenchmarkError(f"{server.name} ended at its start: {last_line(log)}")
        if time.perf_counter() > end:
            raise BenchmarkError(f"{server.name} gave no answer within {START_SECONDS} s: {last_line(log)}")
        time.sleep(0.005)


def answers(port: int, path: str, body: bytes) -> bool:
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=START_SECONDS)
    try:
        if path != "/invocations":
            connection.request("GET", path)
        else:
            connection.request("POST", path, body, {"Content-Type": "application/json"})
        return connection.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        connection.close()


def stop(process: subprocess.Popen) -> None:
    signal_group(process.pid, signal.SIGTERM)
    end = time.perf_counter() + STOP_SECONDS
    while group(process.pid) and time.perf_counter() < end:
        process.poll()
        time.sleep(0.05)
    signal_group(process.pid, signal.SIGKILL)
    process.wait()


def signal_group(leader: int, number: signal.Signals) -> None:
    with suppress(ProcessLookupError):
        os.killpg(leader, number)


def group(leader: int) -> list[int]:
    """The living processes of a group."""
    return [int(path.name) for path in Path("/proc").glob("[0-9]*") if belongs(path, leader)]


def belongs(process: Path, leader: int) -> bool:
    state, _, number = (statistics(process) or ["Z", "", "0"])[:3]
    return int(number) == leader and state != "Z"


def ticks(pid: int) -> int:
    """What it has used of the processor, in the kernel's ticks."""
    user, system = (statistics(Path(f"/proc/{pid}")) or ["0"] * 13)[11:13]
    return int(user) + int(system)


def statistics(process: Path) -> list[str]:
    """What the kernel says of a process: its state, parent, group and so on. Nothing where there is none any more."""
    try:
        # The name before it is in brackets and may hold anything.
        return (process / "stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def proportional_kilobytes(pid: int) -> int:
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0
    return sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))


def free_port() -> int:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def log_file(name: str) -> Path:
    return places.LOGS / f"{name}.log"


def last_line(log: Path) -> str:
    """Without what a stack trace indents."""
    lines = [line for line in log.read_text(errors="replace").splitlines() if line[:1].strip()]
    return f"{lines[-1]} ({log})" if lines else f"its log {log} is empty"
