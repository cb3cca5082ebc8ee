"""The bare model's loop in Python and in Java, in its two layouts of threads."""

import json
import sys
from collections.abc import Callable
from statistics import quantiles

from whole_server import places
from whole_server.options import Options
from whole_server.preparation import java_home
from whole_server.process import printed
from whole_server.statistics import Metrics, Round, value_of


# Of a loop, before it is measured: Java's compilers are busy for the first of them.
WARM_SECONDS = 6
PYTHON, JAVA = "Python", "Java"


def loops(options: Options, parts: int) -> Round:
    """What the loops made with so many parts at the same time: one, which has all cores, or one for each core. Times in
    milliseconds."""
    return {
        f"{PYTHON}, {parts} × {options.cores // parts}": python_loop(options, parts),
        f"{JAVA}, {parts} × {options.cores // parts}": java_loop(options, parts),
    }


def names(rounds: list[Round]) -> list[str]:
    return [name for name in rounds[0] if name.startswith((PYTHON, JAVA))]


def best(rounds: list[Round], metric: str, choose: Callable[..., str]) -> str:
    """The loop with the best median. The best one of each round would be the luckiest of them."""
    return choose(names(rounds), key=lambda name: value_of(rounds, name, metric))


def python_loop(options: Options, parts: int) -> Metrics:
    threads = options.cores // parts
    command = [
        sys.executable,
        "-m",
        "whole_server.bare_loop",
        str(places.MODEL),
        str(places.TOKENIZER),
        str(places.BODIES),
        str(parts),
        str(threads),
        *durations(options),
    ]
    return measure(command)


def java_loop(options: Options, parts: int) -> Metrics:
    command = [
        str(java_home() / "bin" / "java"),
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        f"{places.CLASSES}:{places.JAR}",
        "dev.berth.bench.BareLoop",
        str(places.ARTIFACT),
        str(places.BODIES),
        str(parts),
        *durations(options),
    ]
    return measure(command)


def durations(options: Options) -> list[str]:
    return [str(min(WARM_SECONDS, options.warm_seconds)), str(options.seconds)]


def measure(command: list[str]) -> Metrics:
    environment = {"DJL_OFFLINE": "true", "OPT_OUT_TRACKING": "true", "TOKENIZERS_PARALLELISM": "false"}
    result = json.loads(printed(command, f"the bare loop failed ({command[0]})", environment))
    hundredths = quantiles(result["times"], n=100, method="inclusive")
    return {
        "rate": result["answers"] / result["seconds"],
        "p50": hundredths[49],
        "p90": hundredths[89],
        "p99": hundredths[98],
    }
