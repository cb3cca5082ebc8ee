"""Many models: one Berth that holds them all, beside a FastAPI process for each of them.

All are copies of the sample. Berth loads a copy, a FastAPI process is started, and so on in turn. Then both are asked
in turn, over 1, 10 and 50 of their models. It needs some 7 GB of memory.
"""

import json
import sys
import time
import urllib.request
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from statistics import median

from whole_server import places
from whole_server.errors import BenchmarkError
from whole_server.options import Options
from whole_server.process import Running, Server, printed, started
from whole_server.servers import TUNED, berth, tuned
from whole_server.statistics import Metrics, Round, percentile, value_of
from whole_server.tables import Goal, number, table
from whole_server.turn import CLIENTS, Turn

COUNTS = (1, 10, 50)
BUDGET_MEGABYTES = 4000
FEWEST_PROCESSES = 10
# Berth with many models, Berth with one, FastAPI with a process for each.
MANY, ONE, PROCESSES = "berth-many", "berth-one", "fastapi-process-of-each"
LABELS = {
    MANY: "Berth with many models",
    ONE: "Berth with one model",
    PROCESSES: "FastAPI, a process for each model",
}
# How often all are asked in turn.
SLICES = 2
# What a model is asked before its memory is looked at.
FIRST_BODIES = 5
PATIENCE_SECONDS = 360
JSON = {"Content-Type": "application/json"}


@dataclass
class Models:
    """The models that are up, and who serves them."""

    servers: list[Running]
    urls: list[str] = field(default_factory=list)
    # How many milliseconds it took to load or start each, by the clock and of a core.
    begins: list[float] = field(default_factory=list)
    begins_of_core: list[float] = field(default_factory=list)
    # What they hold together, by their number.
    megabytes: dict[int, float] = field(default_factory=dict)

    def add(self, url: str) -> None:
        """Asks a new model something, and remembers what the processes hold then."""
        for body in places.BODIES.read_bytes().splitlines()[:FIRST_BODIES]:
            call("POST", url, body)
        self.urls.append(url)
        self.megabytes[len(self.urls)] = sum(server.resident_megabytes() for server in self.servers)

    def of_core(self) -> float:
        """What the processes have used of a core, in milliseconds."""
        return sum(server.processor_seconds() for server in self.servers) * 1000

    def first(self, count: int) -> "Models":
        return replace(self, urls=self.urls[:count])

    def metrics(self) -> Metrics:
        found = {f"megabytes {count}": held for count, held in self.megabytes.items()}
        found["megabytes each"] = self.megabytes_each()
        found["in budget"] = 1 + (BUDGET_MEGABYTES - self.megabytes[1]) // self.megabytes_each()
        return found | shares("begin", self.begins) | {"begin of core": percentile(self.begins_of_core, 0.5)}

    def megabytes_each(self) -> float:
        last = len(self.urls)
        return (self.megabytes[last] - self.megabytes[1]) / (last - 1)

    def fits_one_more(self) -> bool:
        return self.megabytes[len(self.urls)] + self.megabytes_each() <= BUDGET_MEGABYTES


def measure(turn: Turn) -> Round:
    options = turn.options
    counts = COUNTS[:2] if options.quick else COUNTS
    with ExitStack() as stack:
        copies = Models([stack.enter_context(started(many_models()))])
        processes = Models([])
        stops: list[ExitStack] = []
        for copy in range(1, counts[-1] + 1):
            load(copies, copy)
            if copy <= FEWEST_PROCESSES or processes.fits_one_more():
                stops.append(stack.enter_context(ExitStack()))
                start(processes, copy, stops[-1])
        found = {MANY: copies.metrics(), ONE: {}, PROCESSES: processes.metrics()}
        # A single process may have all cores.
        singles = {
            ONE: single(stack.enter_context(started(berth()))),
            PROCESSES: single(stack.enter_context(started(tuned(TUNED, 1, options.cores)))),
        }
        for name, rates in asked(turn, counts, copies, processes, singles).items():
            found[name] |= rates
        found[MANY] |= shares("end", [unload(copies, copy) for copy in range(1, counts[-1] + 1)])
        found[PROCESSES] |= shares("end", [milliseconds(stop.close) for stop in stops])
    return found


def shares(name: str, times: list[float]) -> Metrics:
    return {f"{name} p50": percentile(times, 0.5), f"{name} p99": percentile(times, 0.99)}


def many_models() -> Server:
    return replace(berth(SAGEMAKER_MULTI_MODEL="true"), name=MANY, ready="/ping")


def single(server: Running) -> Models:
    return Models([server], [server.url])


def load(copies: Models, copy: int) -> None:
    before = copies.of_core()
    port = copies.servers[0].port
    body = json.dumps({"model_name": str(copy), "url": str(places.ARTIFACT)}).encode()
    copies.begins.append(milliseconds(lambda: call("POST", f"http://127.0.0.1:{port}/models", body)))
    copies.begins_of_core.append(copies.of_core() - before)
    copies.add(f"http://127.0.0.1:{port}/models/{copy}/invoke")


def unload(copies: Models, copy: int) -> float:
    return milliseconds(lambda: call("DELETE", f"http://127.0.0.1:{copies.servers[0].port}/models/{copy}", b""))


def start(processes: Models, copy: int, stack: ExitStack) -> None:
    server = stack.enter_context(started(tuned(f"{PROCESSES}-{copy}", 1, 1)))
    processes.servers.append(server)
    processes.begins.append(server.start_seconds * 1000)
    processes.begins_of_core.append(server.processor_seconds() * 1000)
    processes.add(server.url)


def asked(
    turn: Turn, counts: tuple[int, ...], copies: Models, processes: Models, singles: dict[str, Models]
) -> Round:
    """The medians of a few rates each, and of their ratios within a slice."""
    slices = []
    for number_of in range(SLICES):
        found: Round = {name: {} for name in LABELS}
        for count in counts:
            compared = {MANY: copies.first(count)}
            if count == 1:
                compared |= singles
            elif count <= len(processes.urls):
                compared[PROCESSES] = processes.first(count)
            names = list(compared)
            first = number_of % len(names)
            for name in [*names[first:], *names[:first]]:
                found[name] |= ask(name, compared[name], turn.options.seconds, number_of)
            for name in names[1:]:
                found[name][f"of many {count}"] = found[MANY][f"rate {count}"] / found[name][f"rate {count}"]
        slices.append(found)
    return {
        name: {metric: median(one[name][metric] for one in slices) for metric in metrics}
        for name, metrics in slices[0].items()
    }


def ask(name: str, models: Models, seconds: int, number_of: int) -> Metrics:
    count = len(models.urls)
    numbers = [str(value) for value in (CLIENTS, seconds, number_of * 137)]
    command = [sys.executable, "-m", "whole_server.many_loop", str(places.BODIES), *numbers, *models.urls]
    before = models.of_core()
    found = json.loads(printed(command, f"the clients of {name} failed"))
    if found["failed"]:
        raise BenchmarkError(f"{name} failed {found['failed']} requests over {count} models")
    found["of core"] = (models.of_core() - before) / found["answers"]
    return {f"{metric} {count}": found[metric] for metric in ("rate", "p50", "p99", "of core")}


def milliseconds(run: Callable[[], None]) -> float:
    begin = time.perf_counter()
    run()
    return (time.perf_counter() - begin) * 1000


def call(method: str, url: str, body: bytes) -> None:
    request = urllib.request.Request(url, body, JSON, method=method)
    try:
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS) as response:
            response.read()
    except OSError as problem:
        raise BenchmarkError(f"{method} {url} failed: {problem}") from problem


def report(rounds: list[Round], options: Options) -> list[str]:
    counts = [count for count in COUNTS if f"rate {count}" in rounds[0][MANY]]
    return [
        "### Many models",
        "",
        *memory_table(rounds, counts),
        "",
        *times_table(rounds),
        "",
        *rates_table(rounds, counts),
        "",
        "All are copies of the sample. Memory is that of all processes together; pages that they share count once. The "
        f"models in {BUDGET_MEGABYTES} MB follow from the others. The rates are those of {CLIENTS} clients that choose "
        "a model at random. Berth with many models has all of them loaded, also when one is asked. A FastAPI process "
        "has one thread, and all cores where only one is asked.",
    ]


def memory_table(rounds: list[Round], counts: list[int]) -> list[str]:
    rows = []
    for name in (MANY, PROCESSES):
        held = [value_of(rounds, name, f"megabytes {count}") for count in counts]
        rows.append(
            [
                LABELS[name],
                *[number(value, 3) for value in held],
                number(value_of(rounds, name, "megabytes each"), 3),
                number(1000 / value_of(rounds, name, "megabytes each"), 3),
                number(value_of(rounds, name, "in budget"), 1),
            ]
        )
    head = [f"MB with {count}" for count in counts]
    return table(["", *head, "MB for one more", "models per GB more", f"models in {BUDGET_MEGABYTES} MB"], rows)


def times_table(rounds: list[Round]) -> list[str]:
    metrics = ["begin p50", "begin p99", "begin of core", "end p50", "end p99"]
    rows = [
        [LABELS[name], *[number(value_of(rounds, name, metric), 3) for metric in metrics]] for name in (MANY, PROCESSES)
    ]
    return table(["ms", "load or start: p50", "p99", "of a core", "unload or stop: p50", "p99"], rows)


def rates_table(rounds: list[Round], counts: list[int]) -> list[str]:
    metrics = ["rate", "p50", "p99", "of core", "of many"]
    rows = [
        [f"{label}, over {count}", *[number(value_of(rounds, name, f"{metric} {count}"), 3) for metric in metrics]]
        for count in counts
        for name, label in LABELS.items()
        if f"rate {count}" in rounds[0][name]
    ]
    return table(["", "answers/s", "p50, ms", "p99, ms", "ms of a core for one", "many models, of this"], rows)


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    """The project has none for this."""
    return []
