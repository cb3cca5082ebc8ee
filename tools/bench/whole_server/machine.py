"""What the figures were measured on and with."""

import datetime
import platform
import re
import subprocess
from importlib.metadata import version
from pathlib import Path

from whole_server import places
from whole_server.options import Options
from whole_server.preparation import java_home
from whole_server.tables import table
from whole_server.turn import compared_warm_seconds

FLAGS = ("avx2", "avx512f", "avx512_vnni", "avx512_bf16", "amx_int8")


def describe(options: Options) -> list[str]:
    rows = [
        ["processor", f"{field('/proc/cpuinfo', 'model name')}, {options.cores} cores"],
        ["of its instructions", instructions()],
        ["memory", f"{int(field('/proc/meminfo', 'MemTotal').split()[0]) / 1e6:.0f} GB"],
        ["system", f"Linux {platform.release()}"],
        ["Java", java()],
        ["Python", platform.python_version()],
        [
            "its packages",
            ", ".join(f"{name} {version(name)}" for name in ("torch", "onnxruntime", "tokenizers", "fastapi", "uvicorn")),
        ],
        [
            "FastAPI as published",
            f"transformers {version('transformers')}" if options.model else "left out: no --model",
        ],
        ["Berth", commit()],
        ["date", datetime.date.today().isoformat()],
        ["measured", f"{options.rounds} rounds, {options.seconds} s each, after {compared_warm_seconds(options)} s of load"],
    ]
    return table(["", ""], rows)


def field(file: str, name: str) -> str:
    found = re.search(rf"^{name}\s*:\s*(.*)$", Path(file).read_text(), re.MULTILINE)
    return found[1] if found else "unknown"


def instructions() -> str:
    flags = (field("/proc/cpuinfo", "flags") + " " + field("/proc/cpuinfo", "Features")).split()
    return ", ".join(f"{flag}: {'yes' if flag in flags else 'no'}" for flag in FLAGS)


def java() -> str:
    release = java_home() / "release"
    parts = [
        re.search(rf'^{name}="(.*)"', release.read_text(), re.MULTILINE)
        for name in ("IMPLEMENTOR", "JAVA_RUNTIME_VERSION")
    ]
    return " ".join(part[1] for part in parts if part)


def commit() -> str:
    done = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=places.HOME, capture_output=True, text=True)
    return f"commit {done.stdout.strip()}" if done.returncode == 0 else "not in a git repository"
