"""What takes processor time away from a server: a process beside it, or the kernel's limit of a container."""

import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from whole_server.process import Running, group

ON_SECONDS = OFF_SECONDS = 0.02
CORES = 1.5
PERIOD_MICROSECONDS = 100_000
GROUPS = Path("/sys/fs/cgroup")
NAME = "berth-bench"

BUSY = f"""
import time
while True:
    end = time.perf_counter() + {ON_SECONDS}
    while time.perf_counter() < end:
        pass
    time.sleep({OFF_SECONDS})
"""


@contextmanager
def half_a_core() -> Iterator[None]:
    """A process that computes for 20 ms and sleeps for 20 ms, again and again, on the core that the kernel gives it."""
    process = subprocess.Popen([sys.executable, "-c", BUSY])
    try:
        yield
    finally:
        process.kill()
        process.wait()


@contextmanager
def limited(server: Running) -> Iterator[bool]:
    """Gives a server the time of 1.5 cores, as `docker run --cpus 1.5` does; yields whether that was possible here."""
    mount = GROUPS / "cpu" if (GROUPS / "cpu").is_dir() else GROUPS
    own, before = mount / NAME, mount / group_of_this_process().lstrip("/")
    try:
        own.mkdir(exist_ok=True)
        limit(own)
        move(server, own)
    except OSError:
        yield False
        return
    try:
        yield True
    finally:
        move(server, before)
        own.rmdir()


def limit(own: Path) -> None:
    quota = int(CORES * PERIOD_MICROSECONDS)
    if (own / "cpu.max").exists():
        (own / "cpu.max").write_text(f"{quota} {PERIOD_MICROSECONDS}")
    else:
        (own / "cpu.cfs_period_us").write_text(str(PERIOD_MICROSECONDS))
        (own / "cpu.cfs_quota_us").write_text(str(quota))


def group_of_this_process() -> str:
    """Its control group for the processor: the first version of control groups names it, the second has one for all."""
    lines = [line.split(":", 2) for line in Path("/proc/self/cgroup").read_text().splitlines()]
    return max(lines, key=lambda line: "cpu" in line[1].split(","))[2]


def move(server: Running, to: Path) -> None:
    for pid in group(server.process.pid):
        with suppress(ProcessLookupError):
            (to / "cgroup.procs").write_text(str(pid))
