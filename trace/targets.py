"""What a model can be traced for, and at which precisions; the default is the first."""

from dataclasses import dataclass, field

from refused import Refused

NO_INT8_COMPILER = "the Neuron compilers have no int8; use bf16 or fp16"


@dataclass(frozen=True)
class Target:
    """A kind of device.

    `impossible` says for each precision that it has not why, `library` which package compiles for it.
    """

    precisions: list[str]
    impossible: dict[str, str]
    library: str | None = None
    requirements: str | None = None
    compiler: str | None = None
    compiler_arguments: dict[str, list[str]] = field(default_factory=dict)


def neuron_v2(name: str) -> Target:
    """Inf2 or Trn1.

    Of the options in the Neuron Compiler CLI Reference Guide for neuronx-cc, `--auto-cast=matmult` alone casts matrix
    multiplications and leaves softmax, normalisation and sums in fp32; `--auto-cast-type` says to what, and
    `--auto-cast=none` casts nothing.
    https://awsdocs-neuron.readthedocs-hosted.com/en/latest/compiler/neuronx-cc/api-reference-guide/neuron-compiler-cli-reference-guide.html
    """
    common = ["--target", name, "--model-type=transformer"]
    return Target(
        precisions=["bf16", "fp16", "fp32"],
        impossible={"int8": NO_INT8_COMPILER},
        library="torch_neuronx",
        requirements="trace/requirements-inf2.txt",
        compiler="neuronx-cc",
        compiler_arguments={
            "bf16": [*common, "--auto-cast=matmult", "--auto-cast-type=bf16"],
            "fp16": [*common, "--auto-cast=matmult", "--auto-cast-type=fp16"],
            "fp32": [*common, "--auto-cast=none"],
        },
    )


TARGETS = {
    "cpu": Target(
        precisions=["int8", "fp32", "bf16"],
        impossible={"fp16": "CPUs gain nothing from it (minilm-qa took as long as in fp32); use int8, fp32 or bf16"},
    ),
    "gpu": Target(
        precisions=["fp16", "fp32", "bf16"],
        impossible={"int8": "PyTorch's dynamic quantisation has no GPU kernels; use fp16, bf16 or fp32"},
    ),
    # Its engine multiplies matrices in fp16 or bf16 only and sums in fp32; the rest can stay fp32, which the
    # `matmult-…` values of --fp32-cast choose. From the command line reference of neuron-cc:
    # https://awsdocs-neuron.readthedocs-hosted.com/en/latest/compiler/neuron-cc/command-line-reference.html
    "inf1": Target(
        precisions=["bf16", "fp16"],
        impossible={
            "fp32": "Inf1 multiplies matrices in bf16 or fp16 only; use one of these",
            "int8": NO_INT8_COMPILER,
        },
        library="torch_neuron",
        requirements="trace/requirements-inf1.txt",
        compiler="neuron-cc",
        compiler_arguments={
            "bf16": ["--fp32-cast", "matmult-bf16"],
            "fp16": ["--fp32-cast", "matmult-fp16"],
        },
    ),
    "inf2": neuron_v2("inf2"),
    "trn1": neuron_v2("trn1"),
}


def choose_precision(target: str, wanted: str | None) -> str:
    """The precision that was asked for, or the target's default."""
    if wanted in TARGETS[target].impossible:
        raise Refused(f"--precision {wanted} --target {target}: {TARGETS[target].impossible[wanted]}")
    return wanted or TARGETS[target].precisions[0]
