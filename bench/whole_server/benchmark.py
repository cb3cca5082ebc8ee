"""Runs the chosen sections round by round, prints what they found and writes the files of results."""

import json
import signal
import sys
import time
from contextlib import ExitStack
from types import ModuleType

from whole_server import machine, places, plot
from whole_server.errors import BenchmarkError
from whole_server.options import SECTIONS, Options, parse
from whole_server.preparation import prepare
from whole_server.process import Running, started
from whole_server.sections import batch, curve, heap, load, memory, models, overhead, overload, start
from whole_server.servers import compared
from whole_server.statistics import Round
from whole_server.tables import Goal, goals_table
from whole_server.turn import Turn, warm

MODULES: dict[str, ModuleType] = {
    "load": load,
    "curve": curve,
    "overload": overload,
    "overhead": overhead,
    "heap": heap,
    "start": start,
    "memory": memory,
    "models": models,
    "batch": batch,
}
ONCE = {"memory", "models"}
COMPARING = {"load", "curve"}
# Goal 7: there has been no machine to write a section for it on.
GPU = Goal("on a GPU, 64 clients: of the bare model at its best batch ≥ 0.9", "not measured", False)


def main(arguments: list[str]) -> int:
    options = parse(arguments)
    # So that what has been started is stopped, as after Ctrl-C.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))
    try:
        say("preparing ...")
        prepare(options)
        if not options.model:
            say("no --model DIR: leaving out the FastAPI sample as published")
        found = measure(options)
    except BenchmarkError as problem:
        print(f"bench/run: {problem}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130
    publish(options, found)
    return 0


def measure(options: Options) -> dict[str, list[Round]]:
    found: dict[str, list[Round]] = {name: [] for name in options.sections}
    # Before the peers are started: pages that two servers share would count as half a page of each.
    measure_round(found, [name for name in options.sections if name in ONCE], Turn(options, 0, []))
    with ExitStack() as stack:
        peers = start_peers(options, stack)
        for number in range(options.rounds):
            measure_round(found, [name for name in options.sections if name not in ONCE], Turn(options, number, peers))
    return found


def measure_round(found: dict[str, list[Round]], sections: list[str], turn: Turn) -> None:
    for name in sections:
        say(f"round {turn.number + 1} of {turn.options.rounds}: {SECTIONS[name]} ...")
        found[name].append(MODULES[name].measure(turn))
        # What has been measured is kept, whatever happens to the rest.
        places.RAW.write_text(json.dumps(found, indent=1))


def start_peers(options: Options, stack: ExitStack) -> list[Running]:
    """The servers that are compared, where a section compares them."""
    peers = []
    if COMPARING & set(options.sections):
        say("starting and warming the servers ...")
        for server in compared(options):
            peers.append(stack.enter_context(started(server)))
            warm(peers[-1], options)
    return peers


def publish(options: Options, found: dict[str, list[Round]]) -> None:
    """Prints the report; a whole run that was not a quick one is written down as well."""
    report = "\n".join(describe(options, found))
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


def describe(options: Options, found: dict[str, list[Round]]) -> list[str]:
    goals = [goal for name, rounds in found.items() for goal in MODULES[name].goals(rounds, options)]
    if set(found) == set(SECTIONS):
        goals.append(GPU)
    lines = [
        "# Results of bench/run",
        "",
        "Medians of the rounds. A ratio is taken within each round, of which the median is shown: it may differ from "
        "the ratio of two medians.",
        "",
        *machine.describe(options),
    ]
    if goals:
        lines += ["", "### Goals", "", *goals_table(goals)]
    for name, rounds in found.items():
        lines += ["", *MODULES[name].report(rounds, options)]
    return lines


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)
