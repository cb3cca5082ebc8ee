"""Traces for CPUs and GPUs: one TorchScript file that takes any batch size and length."""

import io

import torch
from torch import nn

import torchscript
import verification
from pictures import Pictures
from progress import Report, Steps
from refused import Refused, last_line
from subject import Subject
from verification import outputs_of

FILE = "model.pt"


def trace(subject: Subject | Pictures, module: nn.Module, target: str, precision: str, steps: Steps) -> dict[str, bytes]:
    """The file, read back and compared with the untraced module; for a GPU on one, if this machine has one."""
    steps.next(f"trace in {precision}")
    quick = subject.for_cpu(precision) if target == "cpu" else module
    content = traced(quick, subject.example(), target, subject.everywhere())

    device = "cuda" if target == "gpu" and torch.cuda.is_available() else "cpu"
    place = {"cuda": "the GPU", "cpu": "the CPU"}[device]
    if target == "gpu" and device == "cpu":
        place += ", as there is no GPU here"
    steps.next(f"verify on {place}")
    batches = subject.batches()
    loaded = torch.jit.load(io.BytesIO(content), map_location=device)
    comparisons = verification.compare(loaded, module.to(device), batches, device)
    verification.verify(FILE, comparisons, precision)

    report = Report(FILE, content)
    report.say(f"verified with batches of {len(batches)} shapes of {subject.limit()} on {place}")
    report.say(f"largest logit difference from the untraced model {verification.summary(comparisons)}")
    if precision != "fp32":
        exact = verification.compare(loaded, subject.module("fp32").to(device), batches, device)
        report.say(f"largest logit difference from fp32 {verification.summary(exact)}")
    rows, kind = (32, "in batches of 32") if device == "cuda" else (1, "on one thread")
    speed = verification.per_second(loaded, *subject.usual(rows), device)
    report.say(f"{speed:.0f} {subject.unit}/s {kind} of {place}")
    return {FILE: content}


def traced(module: nn.Module, example: list[torch.Tensor], target: str, everywhere: list[torch.Tensor]) -> bytes:
    """The file's content. A GPU's names no device, so that it runs on any."""
    architecture = type(module.model).__name__
    try:
        script = torchscript.trace(module, example)
        if target == "gpu":
            torchscript.forget_devices(script)
        if target == "cpu":
            # The server reads the names, and a trace takes them from whatever variables it has seen.
            for value, name in zip(list(script.graph.inputs())[1:], module.inputs, strict=True):
                value.setDebugName(name)
            script = torch.jit.freeze(script)
        content = torchscript.to_bytes(script)
    except Exception as error:
        raise Refused(f"{architecture} can't be traced: {last_line(error)}") from error
    if target == "gpu":
        check_runs_anywhere(architecture, content, everywhere)
    return content


def check_runs_anywhere(architecture: str, content: bytes, example: list[torch.Tensor]) -> None:
    """Refuses a file that names a device, or that fails on a device that no machine has.

    Tensors of the device `meta` have a shape and no content, and refuse to mix with those of another device. Where a model
    looks for masks, all tokens of `example` are some: what has no content counts as found.
    """
    # Only here: the torch of Inf1 has none.
    from torch.fx.experimental import _config as settings

    loaded = torch.jit.load(io.BytesIO(content))
    if torchscript.names_a_device(loaded):
        raise Refused(f"{architecture}: its trace names a device that can't be taken out, so it would run on no other")
    try:
        with torch.no_grad(), settings.patch(meta_nonzero_assume_all_nonzero=True):
            expected = [tensor.shape for tensor in outputs_of(loaded(*example))]
            found = outputs_of(torchscript.to_device(loaded, "meta")(*(tensor.to("meta") for tensor in example)))
    except Exception as error:
        raise Refused(f"{architecture}: its trace is bound to one device, trace it for cpu: {last_line(error)}") from error
    if any(tensor.device.type != "meta" for tensor in found) or [tensor.shape for tensor in found] != expected:
        raise Refused(f"{architecture}: its trace returns logits of another device or shape than its inputs")
