"""Makes the small TorchScript files that stand in for models in the Java tests.

    python trace/fixtures.py --output src/test/resources/torchscript --library src/test/resources/native \\
        --templates src/extensions/authoring/main/templates

Most take the inputs of a BERT and answer as `echo` does unless their name says otherwise. `doubled`, `sum-and-product`,
`summed-up`, `unfit`, `two-columns`, `looked-up`, `any-type`, `counts` and `fails` take tensors of other kinds. Among the
others:

- `waves-4x128` answers as `waves` and takes 4 rows of 128 tokens and nothing else, like a model compiled for one shape.
- `neuron-1x128` does so too, and loads only after a library that brings its operator, as a Neuron trace does after
  libtorchneuron.so. `--library` compiles that library from src/test/native/testops.c for the machine that this runs on:
  Linux with a C compiler named `cc`; libtorch is not needed. The same compiler gives the same bytes.
- `needs-neuron-class` never loads: it is refused as a Neuron trace is where libtorchneuron.so is missing.
"""

import argparse
import io
import platform
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn

import torchscript

OPERATOR_SOURCE = Path(__file__).resolve().parent.parent / "src" / "test" / "native" / "testops.c"

# Scripting needs the operator's schema only; the kernel is the library's.
torch.library.define("berth_test::negate", "(Tensor values) -> Tensor")

# The token id that makes `throws` and `runs-out-of-memory` fail, so that one row of a batch can be the bad one.
POISON = 13


class Echo(nn.Module):
    """start = (id mod 7) · mask, end = (id mod 5) · mask: logits that a test can work out by itself."""

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        mask = attention_mask.to(torch.float32)
        return (input_ids % 7).to(torch.float32) * mask, (input_ids % 5).to(torch.float32) * mask


class Waves(nn.Module):
    """Logits from 0 to 30 that vary with id, position and token type, and hardly with the CPU.

    Those of the first position go from 15 to 40 and vary with the whole row. So in some rows the classification token
    outweighs all others, as in a SQuAD 2 model where there is no answer.

    Answers made with it are exact to a millionth anywhere, which those of the int8 sample are not.
    """

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        # Whole numbers modulo a prime, then float64: no rounding that could differ.
        place = torch.arange(input_ids.shape[1]) + 1
        start = (input_ids * 7919 + place * 104729 + token_type_ids * 31) % 10007
        end = (input_ids * 6271 + place * 15485863 + token_type_ids * 17) % 10009
        start_logits = start.to(torch.float64) * 30 / 10007
        end_logits = end.to(torch.float64) * 30 / 10009
        whole = (input_ids * attention_mask).sum(1)
        start_logits[:, 0] = 15 + (whole * 7919 % 10007).to(torch.float64) * 25 / 10007
        end_logits[:, 0] = 15 + (whole * 6271 % 10009).to(torch.float64) * 25 / 10009
        masked = attention_mask == 0
        return (
            start_logits.to(torch.float32).masked_fill(masked, -1e4),
            end_logits.to(torch.float32).masked_fill(masked, -1e4),
        )


class CompiledWaves(nn.Module):
    """`Waves` for one shape."""

    def __init__(self, batch: int, sequence: int):
        super().__init__()
        self.waves = Waves()
        self.batch = batch
        self.sequence = sequence

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        expected = [self.batch, self.sequence]
        for tensor in [input_ids, attention_mask, token_type_ids]:
            if tensor.shape != expected:
                raise RuntimeError(f"expected the shape {expected}, found {tensor.shape}")
        return self.waves(input_ids, attention_mask, token_type_ids)


class NeuronWaves(nn.Module):
    """`CompiledWaves` by way of the library's operator. Negating twice changes no bit."""

    def __init__(self, batch: int, sequence: int):
        super().__init__()
        self.compiled = CompiledWaves(batch, sequence)

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        start, end = self.compiled(input_ids, attention_mask, token_type_ids)
        return -torch.ops.berth_test.negate(start), -torch.ops.berth_test.negate(end)


class NeedsNeuronClass(nn.Module):
    """Holds an attribute whose type `needs_neuron_class` changes."""

    def __init__(self):
        super().__init__()
        self.echo = Echo()
        self.model = 1

    def forward(self, input_ids: Tensor, attention_mask: Tensor, token_type_ids: Tensor) -> tuple[Tensor, Tensor]:
        return self.echo(input_ids, attention_mask, token_type_ids)


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


class Doubled(nn.Module):
    """Any numbers in any shape, times two."""

    def forward(self, values: Tensor) -> Tensor:
        return values * 2


class SumAndProduct(nn.Module):
    """Two inputs, two outputs by name."""

    def forward(self, left: Tensor, right: Tensor) -> dict[str, Tensor]:
        return {"sum": left + right, "product": left * right}


class SummedUp(nn.Module):
    """Loses the batch dimension, as no model that is served may."""

    def forward(self, values: Tensor) -> Tensor:
        return values.sum()


class Centred(nn.Module):
    """What is said of a row depends on the others."""

    def forward(self, values: Tensor) -> Tensor:
        return values - values.mean(0, keepdim=True)


class Widest(nn.Module):
    """All rows of two numbers are one thing, of which there is one answer, and one for each row."""

    def forward(self, points: Tensor) -> dict[str, Tensor]:
        widest = (points @ torch.tensor([[1.0, 0.0], [10.0, 1.0]])).amax(0, keepdim=True)
        return {"widest": widest, "rest": widest - points}


class Unfit(nn.Module):
    """Returns what can't become a tensor as it is: of the kind that the first value chooses."""

    def forward(self, values: Tensor) -> Any:
        kind = int(values[0])
        if kind == 0:
            return "text"  # for which the engine has no native array
        if kind == 1:
            return 1.5
        if kind == 2:
            return values, None
        if kind == 3:
            return values.to_sparse()
        if kind == 4:
            return torch.complex(values, values)
        if kind == 5:
            return torch.fft.fft(values.to(torch.float64))
        if kind == 6:
            return values.to(torch.complex32)
        if kind == 7:
            return torch.quantize_per_tensor(values, 0.1, 0, torch.qint8)
        return (-values).to(torch.int64).to(torch.uint64)


class TwoColumns(nn.Module):
    """Takes rows of two numbers and no others."""

    def forward(self, values: Tensor) -> Tensor:
        return values @ torch.tensor([[1.0], [10.0]])


class LookedUp(nn.Module):
    """Takes rows of int64, and no other type: how many there are."""

    def forward(self, ids: Tensor) -> Tensor:
        return torch.embedding(torch.ones(10, 1), ids).sum(1)


class Fails(nn.Module):
    """Fails in the way that the first `kind` names. Up to 3 no input could help; from 4 on the inputs are wrong."""

    def __init__(self):
        super().__init__()
        self.words = torch.zeros(3, 2)

    def forward(self, values: Tensor, kind: Tensor) -> Tensor:
        first = int(kind[0])
        if first == 1:
            return values * torch.q_scale(values)
        if first == 2:
            return values.to("cuda")
        if first == 3:
            return values + torch.zeros([2], device="meta")
        if first == 4:
            raise ValueError("found 4, expected less")
        return torch.embedding(self.words, kind)


class DoesNotFit(nn.Module):
    """Needs more memory than there is while it is loaded, as a model larger than the device does."""

    def __init__(self):
        super().__init__()
        self.weights = torch.zeros(1)

    def forward(self, values: Tensor) -> Tensor:
        return values

    @torch.jit.export
    def __getstate__(self) -> tuple[int, bool]:
        return 1 << 50, self.training

    @torch.jit.export
    def __setstate__(self, state: tuple[int, bool]) -> None:
        self.training = state[1]
        self.weights = torch.zeros([state[0]])


class AnyType(nn.Module):
    """The same number in every type that the engine has a name for, and in others."""

    def forward(self, values: Tensor) -> list[Tensor]:
        return [
            *(values.to(torch.bool), values.to(torch.uint8), values.to(torch.int8), values.to(torch.int32)),
            *(values.to(torch.int64), values.to(torch.float16), values.to(torch.float32), values.to(torch.float64)),
            *(values.to(torch.bfloat16), values.to(torch.float8_e5m2), values.to(torch.int16), values.to(torch.uint16)),
            *(values.to(torch.int64).to(torch.uint32), values.to(torch.int64).to(torch.uint64)),
        ]


class Remembers(nn.Module):
    """Adds what it is given to what it has kept; a 9 in front is written into the first one instead. It returns the first sum.

    After the poison it forgets one.
    """

    def __init__(self):
        super().__init__()
        self.poison = POISON

    def forward(self, values: Tensor, kept: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        if int(values[0]) == 9:
            kept[0].fill_(9)
            return kept[0], kept
        sums = [each + values for each in kept]
        return sums[0], sums[1:] if int(values[0]) == self.poison else sums


class Halves(nn.Module):
    """Keeps what it is given in half the memory."""

    def forward(self, values: Tensor, kept: list[Tensor]) -> tuple[Tensor, list[Tensor]]:
        return values, [each.to(torch.bfloat16) for each in kept]


class Forgets(nn.Module):
    """Takes what is kept and returns nothing to keep."""

    def forward(self, values: Tensor, kept: list[Tensor]) -> Tensor:
        return values + kept[0]


class Counts(nn.Module):
    """Counts to its largest number and adds that: a request says how long its forward takes."""

    def forward(self, values: Tensor) -> Tensor:
        largest = int(values.max())
        counted = 0
        while counted < largest:
            counted += 1
        return values + counted


class Flats(nn.Module):
    """What a flat costs, from its square metres and its rooms; the model of `serve init --template tensor`."""

    def forward(self, flats: Tensor) -> Tensor:
        return flats @ torch.tensor([[5.0], [50.0]]) + 20


FIXTURES = {
    "echo": Echo(),
    "waves": Waves(),
    "waves-1x32": CompiledWaves(1, 32),
    "waves-1x128": CompiledWaves(1, 128),
    "waves-4x128": CompiledWaves(4, 128),
    "waves-2x384": CompiledWaves(2, 384),
    "neuron-1x128": NeuronWaves(1, 128),
    "neuron-2x384": NeuronWaves(2, 384),
    "runs-out-of-memory": RunsOutOfMemory(),
    "throws": Throws(),
    "fixed-shape": FixedShape(),
    "float64": Float64(),
    "one-output": OneOutput(),
    "doubled": Doubled(),
    "sum-and-product": SumAndProduct(),
    "summed-up": SummedUp(),
    "centred": Centred(),
    "widest": Widest(),
    "unfit": Unfit(),
    "two-columns": TwoColumns(),
    "looked-up": LookedUp(),
    "fails": Fails(),
    "does-not-fit": DoesNotFit(),
    "any-type": AnyType(),
    "remembers": Remembers(),
    "forgets": Forgets(),
    "halves": Halves(),
    "counts": Counts(),
}


def needs_neuron_class() -> bytes:
    """A file that declares an attribute of a class from libtorchneuron.so, as every Neuron trace does.

    Without that library the class can't be scripted, so it is written into the code afterwards. The attribute's value
    stays a number: libtorch looks for the class before it reads values.
    """
    file = torchscript.to_bytes(torch.jit.script(NeedsNeuronClass().eval()))
    reader = torch._C.PyTorchFileReader(io.BytesIO(file))
    changed = io.BytesIO()
    writer = torch._C.PyTorchFileWriter(changed)
    writer.set_min_version(int(reader.get_record("version")))
    declarations = 0
    for name in reader.get_all_records():
        if name in torchscript.WRITTEN_AT_THE_END:
            continue
        record = reader.get_record(name)
        if name.startswith("code/"):
            declarations += record.count(b"  model : int\n")
            record = record.replace(b"  model : int\n", b"  model : __torch__.torch.classes.neuron.Model\n")
        writer.write_record(name, record, len(record))
    writer.write_end_of_file()
    if declarations != 1:
        raise RuntimeError(f"found {declarations} declarations of the attribute, expected 1")
    return changed.getvalue()


def compile_library(directory: Path) -> Path:
    """Compiles the operator's library for this machine: `directory`/linux-x86_64/libtestops.so or the like."""
    library = directory / f"linux-{platform.machine()}" / "libtestops.so"
    library.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as temporary:
        # An empty library of that name, so that the real one is asked for when the operator's is loaded.
        empty = Path(temporary) / "empty.c"
        empty.write_text("")
        libtorch = Path(temporary) / "libtorch_cpu.so"
        named = f"-Wl,-soname,{libtorch.name}"
        subprocess.run(["cc", "-shared", "-nostdlib", named, "-o", libtorch, empty], check=True)
        subprocess.run(
            [
                *("cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-Os", "-fPIC", "-shared", "-nostartfiles", "-s"),
                # Nothing that differs from build to build, and no empty pages.
                *("-fno-ident", "-fno-asynchronous-unwind-tables", "-Wl,--build-id=none", "-Wl,-z,noseparate-code"),
                # A missing symbol fails at loading; what is registered stays registered.
                *("-Wl,-z,now", "-Wl,-z,nodelete", "-Wl,--no-as-needed"),
                *("-o", library, OPERATOR_SOURCE, libtorch),
            ],
            check=True,
        )
    library.chmod(0o644)
    return library


def write(path: Path, content: bytes) -> None:
    path.write_bytes(content)
    print(f"{path}: {len(content)} bytes")


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the TorchScript files of the Java tests.")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--library", type=Path, help="where to put the library that some of the files need")
    parser.add_argument("--templates", type=Path, help="where the templates of `serve init` are")
    arguments = parser.parse_args()
    arguments.output.mkdir(parents=True, exist_ok=True)
    for name, module in FIXTURES.items():
        write(arguments.output / f"{name}.pt", torchscript.to_bytes(torch.jit.script(module.eval())))
    write(arguments.output / "needs-neuron-class.pt", needs_neuron_class())
    if arguments.templates is not None:
        write(arguments.templates / "tensor" / "model.pt", torchscript.to_bytes(torch.jit.script(Flats().eval())))
    if arguments.library is not None:
        library = compile_library(arguments.library)
        print(f"{library}: {library.stat().st_size} bytes")


if __name__ == "__main__":
    main()
