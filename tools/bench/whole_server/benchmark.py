"""Runs the chosen sections round by round, prints what they found and writes the files of results."""

import json
import signal
import sys
import time
from contextlib import ExitStack
from types import ModuleType

from whole_server import busy, durations, machine, places, plot
from whole_server.errors import BenchmarkError
from whole_server.options import COMPARING, ONCE, SECTIONS, Options, parse
from whole_server.preparation import prepare
from whole_server.process import Running, started
from whole_server.sections import (
    batch,
    curve,
    heap,
    load,
    memory,
    models,
    neighbour,
    overhead,
    overload,
    peak,
    small,
    start,
    tasks,
)
from whole_server.servers import compared
from whole_server.statistics import Round
from whole_server.tables import Goal, goals_table
from whole_server.turn import Turn, warm_compared

MODULES: dict[str, ModuleType] = {
    "peak": peak,
    "load": load,
    "neighbour": neighbour,
    "curve": curve,
    "overload": overload,
    "overhead": overhead,
    "heap": heap,
    "start": start,
    "memory": memory,
    "models": models,
    "tasks": tasks,
    "small": small,
    "batch": batch,
}
# Goal 7: tools/gpu/run measures it, and there has been no machine for that.
GPU = Goal("on a GPU, 64 clients: of the bare model at its best batch ≥ 0.9", "not measured", False)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    # So that what has been started is stopped, as after Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    expected = durations.expected(options)
    for name, seconds in expected.items():
        say(f"{name} is expected to take {durations.text(seconds)}")
    say(f"in all: {durations.text(sum(expected.values()))}, after the preparation")
    try:
        if not options.busy:
            busy.refuse()
        say("preparing ...")
        prepare(options)
        if not options.model:
            say("no --model DIR: leaving out FastAPI as published")
        run = Run(options)
        run.measure()
    except BenchmarkError as problem:
        print(f"tools/bench/run: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    publish(run)
    return 0


class Run:
    """What the sections found, how long each took in seconds, and what else was seen to use the machine."""

    def __init__(self, options: Options) -> None:
        self.options = options
        self.found: dict[str, list[Round]] = {name: [] for name in options.sections}
        self.took: dict[str, float] = dict.fromkeys([*options.sections, durations.WARMING], 0.0)
        self.disturbed: list[str] = []

    def measure(self) -> None:
        # Before the peers are started: pages that two servers share would count as half a page of each.
        self.measure_round(Turn(self.options, 0, []), once=True)
        with ExitStack() as stack:
            begin = time.perf_counter()
            peers = start_peers(self.options, stack)
            self.took[durations.WARMING] = time.perf_counter() - begin
            for number in range(self.options.rounds):
                self.measure_round(Turn(self.options, number, peers), once=False)

    def measure_round(self, turn: Turn, once: bool) -> None:
        for name in self.options.sections:
            if (name in ONCE) == once:
                self.measure_section(name, turn)

    def measure_section(self, name: str, turn: Turn) -> None:
        rounds = 1 if name in ONCE else self.options.rounds
        say(f"{name}, round {turn.number + 1} of {rounds}: {SECTIONS[name]} ...")
        begin = time.perf_counter()
        others = busy.others(seconds=1)
        if others.busy:
            self.disturbed.append(f"before {name}, round {turn.number + 1}: {others}")
            say(f"the machine is busy: {others}")
        self.found[name].append(MODULES[name].measure(turn))
        self.took[name] += time.perf_counter() - begin
        # What has been measured is kept, even if a later section fails.
        places.RAW.write_text(json.dumps(self.found, indent=1))


def start_peers(options: Options, stack: ExitStack) -> list[Running]:
    """The servers that are compared, where a section compares them."""
    peers = []
    if COMPARING & set(options.sections):
        say("starting and warming the servers ...")
        for server in compared(options):
            peers.append(stack.enter_context(started(server)))
            warm_compared(peers[-1], options)
    return peers


def publish(run: Run) -> None:
    """Prints the report; a whole run that was not a quick one is written down as well."""
    options, found = run.options, run.found
    report = "\n".join(describe(run))
    print(report)
    if options.quick or set(options.sections) != set(SECTIONS):
        plot_file = places.WORK / places.PLOT.name
        results = places.WORK / places.RESULTS.name
    else:
        plot_file, results = places.PLOT, places.RESULTS
    if "curve" in found:
        plot.draw(found["curve"], load.with_bare(found.get("load", [])), options, plot_file)
    results.write_text(report + "\n", encoding="utf-8")
    say(f"wrote {results}")


def describe(run: Run) -> list[str]:
    options, found = run.options, run.found
    goals = [goal for name, rounds in found.items() for goal in MODULES[name].goals(rounds, options)]
    if set(found) == set(SECTIONS):
        goals.append(GPU)
    lines = [
        "# Results of tools/bench/run",
        "",
        "Medians of the rounds. A ratio is taken within each round, of which the median is shown: it may differ from "
        "the ratio of two medians.",
        "",
        *machine.describe(options),
    ]
    if options.busy or run.disturbed:
        started = "This run was started with `--busy`, on a machine that may have had other work." if options.busy else ""
        lines += ["", "**Do not compare these figures: the machine was busy.** " + started]
        lines += ["", *[f"* {text}" for text in run.disturbed]]
    if goals:
        lines += ["", "### Goals", "", *goals_table(goals)]
    for name, rounds in found.items():
        lines += ["", *MODULES[name].report(rounds, options)]
    return [*lines, "", "### Time of this run", "", *durations.describe(durations.expected(options), run.took)]


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
