"""Weights as int8 with a scale for each row, a quarter of the size. Sums stay fp32.

So a row's result does not depend on the rest of its batch, and is the same on every device but for the order of sums.
torch's dynamic quantisation, which is quicker on a CPU, promises neither.
"""

import torch
from torch import nn
from torch.nn import functional

LARGEST = 127


class Int8Linear(nn.Module):
    __module__ = "__main__"

    def __init__(self, linear: nn.Linear):
        super().__init__()
        weight, scale = rounded(linear.weight)
        self.register_buffer("weight", weight)
        self.register_buffer("scale", scale[:, 0])
        self.register_buffer("bias", linear.bias.detach())

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        return functional.linear(inputs, self.weight.to(inputs.dtype)) * self.scale + self.bias


class Int8Embedding(nn.Module):
    __module__ = "__main__"

    def __init__(self, embedding: nn.Embedding):
        super().__init__()
        weight, scale = rounded(embedding.weight)
        self.register_buffer("weight", weight)
        self.register_buffer("scale", scale)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        return self.weight[ids].to(self.scale.dtype) * self.scale[ids]


def rounded(weight: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The weight as int8 and the scale of each row, of shape [rows, 1]; a row of zeros keeps them."""
    weight = weight.detach()
    scale = weight.abs().amax(dim=1, keepdim=True).clamp(min=1e-12) / LARGEST
    return (weight / scale).round().to(torch.int8), scale


def quantise(module: nn.Module) -> None:
    """Exchanges the linear layers and embeddings within the module."""
    for name, child in module.named_children():
        if isinstance(child, nn.Linear):
            setattr(module, name, Int8Linear(child))
        elif isinstance(child, nn.Embedding):
            setattr(module, name, Int8Embedding(child))
        else:
            quantise(child)
