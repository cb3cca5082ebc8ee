"""What a question takes of the Java heap, from its first byte to its answer's last, as the JVM counts for each thread."""

import re
import subprocess

from whole_server.closed_loop import ask
from whole_server.errors import BenchmarkError
from whole_server.options import Options
from whole_server.preparation import java_home
from whole_server.process import Running, started
from whole_server.servers import BERTH, berth
from whole_server.statistics import Round, value_of
from whole_server.tables import Goal, at_most, number, table
from whole_server.turn import Turn

CLIENTS = 4
# Before anything was done about it.
FIRST_KILOBYTES = 169.9
UNITS = {"B": 1e-3, "K": 1.024, "M": 1.024**2 * 1e3, "G": 1.024**3 * 1e6}


def measure(turn: Turn) -> Round:
    with started(berth()) as server:
        turn.warm(server)
        before = allocated_kilobytes(server)
        answers = ask(server, CLIENTS, turn.options.seconds).answers
        return {BERTH: {"kilobytes": (allocated_kilobytes(server) - before) / answers}}


def allocated_kilobytes(server: Running) -> float:
    """What all threads that are alive have allocated so far."""
    command = [str(java_home() / "bin" / "jcmd"), str(server.process.pid), "Thread.print", "-e"]
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    if found.returncode:
        raise BenchmarkError(f"{server.name} does not say what its threads have allocated: {found.stderr.strip()}")
    return allocated(found.stdout)


def allocated(threads: str) -> float:
    return sum(float(amount) * UNITS[unit] for amount, unit in re.findall(r" allocated=([\d.]+)([BKMG])", threads))


def report(rounds: list[Round], options: Options) -> list[str]:
    kilobytes = value_of(rounds, BERTH, "kilobytes")
    row = ["a question", number(kilobytes, 3), number(FIRST_KILOBYTES, 4)]
    return ["### Heap", "", *table(["KB allocated for", "now", "at first"], [row])]


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    share = value_of(rounds, BERTH, "kilobytes") / FIRST_KILOBYTES
    return [at_most("heap that a question takes, of what it took at first", share, 0.5)]
