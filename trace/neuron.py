"""Compiles for Inf1, Inf2 and Trn1: a file for each combination of a batch size and a length."""

import importlib
import io
import itertools
import os
import shutil
import sys
from pathlib import Path

import torch
from torch import nn

import verification
from pictures import Pictures
from progress import Report, Steps
from refused import Refused, last_line
from subject import Subject
from targets import TARGETS

# The Neuron compilers were made for attention as plain matrix multiplications and a softmax.
ATTENTION = "eager"

# What the pipeline's max_seq_len is by default: longer rows are only used where a request asks for them.
USUAL_LENGTH = 384

PACKAGES = "https://pip.repos.neuron.amazonaws.com"


def load_library(name: str):
    """The PyTorch extension that compiles for a target, with its compiler; also needed to load what it made."""
    target = TARGETS[name]
    install = f"pip install --extra-index-url {PACKAGES} -r {target.requirements}"
    try:
        library = importlib.import_module(target.library)
    except ImportError as error:
        raise Refused(f"--target {name}: {target.library} can't be imported ({last_line(error)}): {install}") from error
    # The library looks on the PATH, where the compiler is missing if the virtual environment was not activated.
    environment = Path(sys.executable).parent
    if not shutil.which(target.compiler):
        os.environ["PATH"] = os.pathsep.join([str(environment), os.environ.get("PATH", "")])
    if not shutil.which(target.compiler):
        raise Refused(f"--target {name}: the compiler {target.compiler} is not installed: {install}")
    return library


def entries(lengths: list[int] | None, batch_sizes: list[int] | None, longest: int) -> list[dict]:
    """The files to compile, as `model.json` names them: every batch size with every length, the short ones first."""
    lengths = sorted(set(lengths or [min(USUAL_LENGTH, longest)]))
    if lengths[-1] > longest:
        raise Refused(f"--sequence-length {lengths[-1]}: the model takes at most {longest} tokens")
    shapes = itertools.product(lengths, sorted(set(batch_sizes or [1])))
    return [{"path": f"model-{rows}x{length}.pt", "batch": rows, "sequence": length} for length, rows in shapes]


def trace(
    library, subject: Subject | Pictures, module: nn.Module, target: str, precision: str, entries: list[dict], steps: Steps
) -> dict[str, bytes]:
    """The compiled files. Only where this machine has a Neuron device are they compared with the untraced module."""
    batches = {entry["path"]: subject.batches_of(entry) for entry in entries}
    arguments = subject.compiler_arguments(TARGETS[target].compiler_arguments[precision])
    steps.next(f"compile for {target} in {precision}, which takes minutes for each file")
    files = {}
    for name, inputs in batches.items():
        steps.note(name)
        files[name] = compile_shape(library, module, inputs[0], arguments)

    steps.next("verify on the NeuronCores" if has_device() else "not verified: there is no Neuron device here")
    for name, content in files.items():
        report = Report(name, content)
        if has_device():
            verify(report, content, module, batches[name], precision, subject.unit)
        else:
            report.say("compiled, but not run; `./serve check DIR` does that on the instance")
    return files


def compile_shape(library, module: nn.Module, example: list[torch.Tensor], arguments: list[str]) -> bytes:
    """The content of the TorchScript file of `module` for the shape of `example`."""
    shape = list(example[0].shape)
    try:
        with torch.no_grad():
            compiled = library.trace(module.requires_grad_(False), tuple(example), compiler_args=arguments)
    except Exception as error:
        raise Refused(f"the Neuron compiler can't compile the shape {shape}: {last_line(error)}") from error
    file = io.BytesIO()
    torch.jit.save(compiled, file)
    return file.getvalue()


def has_device() -> bool:
    """Whether this machine has a Neuron device, on which alone a compiled file runs."""
    return any(Path("/dev").glob("neuron*"))


def verify(
    report: Report, content: bytes, module: nn.Module, batches: list[list[torch.Tensor]], precision: str, unit: str
) -> None:
    loaded = torch.jit.load(io.BytesIO(content))
    comparisons = verification.compare(loaded, module, batches)
    # Neuron's fp32 is held to fp16's bounds: its exponentials and the like are not those of a CPU.
    verification.verify(report.name, comparisons, "fp16" if precision == "fp32" else precision)
    report.say(f"largest logit difference from fp32 on the CPU {verification.summary(comparisons)}")
    count = batches[0][0].numel() if unit == "tokens" else len(batches[0][0])
    report.say(f"{verification.per_second(loaded, batches[0], count):.0f} {unit}/s on one NeuronCore")
