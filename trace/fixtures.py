"""Makes the small TorchScript files that stand in for models in the Java tests.

    python trace/fixtures.py --output src/test/resources/torchscript

All take the inputs of a BERT. Except for `waves`, they answer as `echo` does unless their name says otherwise.
"""

import argparse
from pathlib import Path

import torch
from torch import Tensor, nn

import torchscript

# The token id that makes `throws` and `runs-out-of-memory` fail, so that one row of a batch can be the bad one.
POISON = 13


class Echo(nn.Module):
    """start = (id mod 7) · mask, end = (id mod 5) · mask: logits that a test can work out by itself."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        mask = attention_mask.to(torch.float32)
        return (input_ids % 7).to(torch.float32) * mask, (input_ids % 5).to(torch.float32) * mask


class Waves(nn.Module):
    """Logits from 0 to 30 that vary with id, position and token type, and hardly with the CPU.

    Answers made with it are exact to a millionth anywhere, which those of the int8 sample are not.
    """

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        # Whole numbers modulo a prime, then float64: no rounding that could differ.
        place = torch.arange(input_ids.shape[1]) + 1
        start = (input_ids * 7919 + place * 104729 + token_type_ids * 31) % 10007
        end = (input_ids * 6271 + place * 15485863 + token_type_ids * 17) % 10009
        masked = attention_mask == 0
        return (
            (start.to(torch.float64) * 30 / 10007).to(torch.float32).masked_fill(masked, -1e4),
            (end.to(torch.float64) * 30 / 10009).to(torch.float32).masked_fill(masked, -1e4),
        )


class RunsOutOfMemory(nn.Module):
    """Asks the allocator for 256 TiB, more than a process can address, when it meets the poison id."""

    def __init__(self):
        super().__init__()
        self.echo = Echo()
        self.poison = POISON

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        start, end = self.echo(input_ids, attention_mask, token_type_ids)
        if bool((input_ids == self.poison).any()):
            start = start + torch.zeros([1 << 46])[0]
        return start, end


class Throws(nn.Module):
    """Fails like a broken model does when it meets the poison id."""

    def __init__(self):
        super().__init__()
        self.echo = Echo()
        self.poison = POISON

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        if bool((input_ids == self.poison).any()):
            raise RuntimeError("boom")
        return self.echo(input_ids, attention_mask, token_type_ids)


class FixedShape(nn.Module):
    """Takes two rows of 32 tokens and nothing else, like a model compiled for one shape."""

    def __init__(self):
        super().__init__()
        self.echo = Echo()

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        if input_ids.shape != [2, 32]:
            raise RuntimeError("expected the shape [2, 32]")
        return self.echo(input_ids, attention_mask, token_type_ids)


class Float64(nn.Module):
    """Returns logits of the wrong type."""

    def __init__(self):
        super().__init__()
        self.echo = Echo()

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        start, end = self.echo(input_ids, attention_mask, token_type_ids)
        return start.to(torch.float64), end.to(torch.float64)


class OneOutput(nn.Module):
    """Returns one tensor where two are expected."""

    def __init__(self):
        super().__init__()
        self.echo = Echo()

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> Tensor:
        start, _ = self.echo(input_ids, attention_mask, token_type_ids)
        return start


FIXTURES = {
    "echo": Echo(),
    "waves": Waves(),
    "runs-out-of-memory": RunsOutOfMemory(),
    "throws": Throws(),
    "fixed-shape": FixedShape(),
    "float64": Float64(),
    "one-output": OneOutput(),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the TorchScript files of the Java tests.")
    parser.add_argument("--output", type=Path, required=True)
    output = parser.parse_args().output
    output.mkdir(parents=True, exist_ok=True)
    for name, module in FIXTURES.items():
        file = torchscript.to_bytes(torch.jit.script(module.eval()))
        (output / f"{name}.pt").write_bytes(file)
        print(f"{output / name}.pt: {len(file)} bytes")


if __name__ == "__main__":
    main()
