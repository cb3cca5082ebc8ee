"""What all tests of the tracer need: quiet, and one way to run it."""

import json
import sys

import pytest
import torch

import agreement
import trace as tracer


@pytest.fixture(autouse=True)
def quiet():
    tracer.silence_expected_warnings()


@pytest.fixture(autouse=True)
def short_contexts(monkeypatch):
    """Tiny models read few tokens at a time: the contexts of real models would be dozens of windows."""
    monkeypatch.setattr(agreement, "PASSAGES", [1, 2, 3])


@pytest.fixture
def trace(monkeypatch):
    """Runs trace.py with arguments, and returns model.json."""

    def run(model, output, *more):
        monkeypatch.setattr(sys, "argv", ["trace.py", "--model", str(model), "--output", str(output), *map(str, more)])
        tracer.main()
        return json.loads((output / "model.json").read_text(encoding="utf-8"))

    return run


@pytest.fixture
def make(trace):
    """The same, in fp32 where no argument says else: int8, the default of a CPU, is compared with fp32 first."""

    def run(model, output, *more):
        chosen = {"--precision", "--target"}.intersection(more)
        return trace(model, output, *more, *([] if chosen else ["--precision", "fp32"]))

    return run


@pytest.fixture
def refusal(make, tmp_path):
    """Runs trace.py where it must refuse; returns the line, and sees to it that nothing was written."""

    def run(model, *more):
        with pytest.raises(SystemExit) as exit:
            make(model, tmp_path / "refused", *more)
        assert not (tmp_path / "refused").exists()
        assert "\n" not in exit.value.code
        return exit.value.code

    return run


@pytest.fixture
def logits():
    """The logits of an artifact's first file."""

    def run(output, *inputs):
        description = json.loads((output / "model.json").read_text(encoding="utf-8"))
        with torch.no_grad():
            return torch.jit.load(str(output / description["files"][0]["path"]))(*inputs)

    return run
