"""Who else uses the processor: a measurement beside other work says nothing."""

import os
import time
from dataclasses import dataclass
from pathlib import Path

from whole_server.errors import BenchmarkError
from whole_server.process import statistics, ticks

SAMPLE_SECONDS = 3
# Of one core. An idle machine with a desktop or an agent stays below it.
QUIET_CORES = 0.2
MOST_NAMED = 5


@dataclass(frozen=True)
class Others:
    """How many cores others use, and the processes that use the most, with their cores."""

    cores: float
    processes: list[tuple[str, float]]

    @property
    def busy(self) -> bool:
        return self.cores > QUIET_CORES

    def __str__(self) -> str:
        named = ", ".join(f"{name} {used:.2f}" for name, used in self.processes) or "none that is visible here"
        return f"{self.cores:.2f} of {os.cpu_count()} cores are in use (processes, in cores: {named})"


def others(seconds: float = SAMPLE_SECONDS) -> Others:
    """Looks for so long, without what this process and its children use."""
    hertz = os.sysconf("SC_CLK_TCK")
    all_before, before, begin = machine_ticks(), process_ticks(), time.perf_counter()
    time.sleep(seconds)
    all_after, after, passed = machine_ticks(), process_ticks(), time.perf_counter() - begin
    own = family(os.getpid())
    used = {pid: (count - before.get(pid, 0)) / hertz / passed for pid, count in after.items()}
    total = (all_after - all_before) / hertz / passed - sum(used.get(pid, 0) for pid in own)
    most = sorted((pid for pid in used if pid not in own and used[pid] >= 0.01), key=lambda pid: -used[pid])
    return Others(max(0.0, total), [(f"{name(pid)} ({pid})", used[pid]) for pid in most[:MOST_NAMED]])


def refuse() -> None:
    """@raises BenchmarkError: where the machine is busy"""
    found = others()
    if found.busy:
        raise BenchmarkError(f"the machine is busy: {found}. Stop them, or measure anyway with --busy")


def machine_ticks() -> int:
    """What all cores have worked, also for other guests of the host (steal)."""
    user, nice, system, _, _, interrupt, soft_interrupt, steal = Path("/proc/stat").read_text().split()[1:9]
    return sum(map(int, (user, nice, system, interrupt, soft_interrupt, steal)))


def process_ticks() -> dict[int, int]:
    return {pid: ticks(pid) for pid in pids()}


def pids() -> list[int]:
    return [int(path.name) for path in Path("/proc").glob("[0-9]*")]


def family(ancestor: int) -> set[int]:
    """A process and all that descend from it."""
    parents = {pid: int((statistics(Path(f"/proc/{pid}")) or ["", "0"])[1]) for pid in pids()}
    found, size = {ancestor}, 0
    while size < len(found):
        size = len(found)
        found |= {pid for pid, parent in parents.items() if parent in found}
    return found


def name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return "ended"
