"""The bare model's loop in Python and in Java, in its two layouts of threads."""

import json
import sys
from dataclasses import dataclass
from statistics import quantiles

from whole_server import places
from whole_server.options import Options
from whole_server.preparation import java_home
from whole_server.process import printed


@dataclass(frozen=True)
class Loop:
    """What a loop made; times in milliseconds."""

    name: str
    rate: float
    p50: float
    p90: float
    p99: float


def loops(options: Options, parts: int) -> list[Loop]:
    """The loops with so many parts at the same time: one, which has all cores, or one for each core."""
    return [python_loop(options, parts), java_loop(options, parts)]


def python_loop(options: Options, parts: int) -> Loop:
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
    return measure(f"Python, {parts} × {threads}", command)


def java_loop(options: Options, parts: int) -> Loop:
    command = [
        str(java_home() / "bin" / "java"),
        "--enable-native-access=ALL-UNNAMED",
        "-cp",
        f"{places.CLASSES}:{places.JAR}",
        "BareLoop",
        str(places.ARTIFACT),
        str(places.BODIES),
        str(parts),
        *durations(options),
    ]
    return measure(f"Java, {parts} × {options.cores // parts}", command)


def durations(options: Options) -> list[str]:
    return [str(options.warm_seconds), str(options.seconds)]


def measure(name: str, command: list[str]) -> Loop:
    environment = {"DJL_OFFLINE": "true", "OPT_OUT_TRACKING": "true", "TOKENIZERS_PARALLELISM": "false"}
    result = json.loads(printed(command, f"the bare loop ({name}) failed", environment))
    hundredths = quantiles(result["times"], n=100, method="inclusive")
    return Loop(name, result["answers"] / result["seconds"], hundredths[49], hundredths[89], hundredths[98])
