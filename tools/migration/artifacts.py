"""What the `model.py` of several migrations do: `python NAME/model.py PYTHON_DIR BERTH_DIR`."""

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]


def directories() -> tuple[Path, Path]:
    """Where the files for the toolkit go, and those for Berth."""
    python, berth = map(Path, sys.argv[1:])
    for directory in (python, berth):
        directory.mkdir(parents=True, exist_ok=True)
    return python, berth


def trace(model: Path, output: Path, *more: str) -> None:
    """As `docs/tasks.md` has it, in fp32."""
    options = ["--model", model, "--output", output, "--precision", "fp32", *more]
    subprocess.run([sys.executable, ROOT / "trace/trace.py", *options], check=True)


def describe(directory: Path, **more: object) -> None:
    """Adds to `model.json`."""
    file = directory / "model.json"
    found = json.loads(file.read_text(encoding="utf-8")) if file.exists() else {"format": 1}
    file.write_text(json.dumps(found | more, indent=2) + "\n", encoding="utf-8")
