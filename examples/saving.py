"""Writes the examples' models: traced, read back, and compared with the untraced module."""

import io
import sys
import warnings
from pathlib import Path

import torch
from torch import nn

sys.path.append(str(Path(__file__).resolve().parents[1] / "trace"))
import torchscript

LARGEST_DIFFERENCE = 1e-4


def save(module: nn.Module, path: Path, batches: list[list[torch.Tensor]], frozen: bool = True) -> None:
    """Traces with the first batch; the file must answer each batch as the module does, whatever its shape.

    Freezing folds what is constant: batch norms into convolutions, but also int8 weights into fp32.
    """
    module.eval()
    # Tracing is deprecated in torch, but nothing else makes a file that libtorch 2.7 reads.
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
    script = torchscript.trace(module, batches[0])
    torchscript.forget_devices(script)
    if frozen:
        script = torch.jit.freeze(script)
    content = torchscript.to_bytes(script)

    loaded = torch.jit.load(io.BytesIO(content))
    with torch.no_grad():
        difference = max((loaded(*batch) - module(*batch)).abs().max().item() for batch in batches)
    # `not <=` rather than `>`, so that NaN is refused too.
    if not difference <= LARGEST_DIFFERENCE:
        raise SystemExit(f"{path}: differs by {difference:.2g} from the untraced model")
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    shapes = ", ".join(str(list(batch[0].shape)) for batch in batches)
    print(f"{path}: {len(content) / 1e6:.2f} MB, at {shapes} within {difference:.1g} of the untraced model")
