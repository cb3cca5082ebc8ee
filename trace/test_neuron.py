"""Traces for Inf1, Inf2 and Trn1 with a stand-in for the Neuron SDK: it only checks what it is given."""

import copy
import json
import sys
import types

import pytest
import torch

import neuron
import tiny_models
from reference import Reference, read_lines, write_answers

LIBRARIES = {"inf1": "torch_neuron", "inf2": "torch_neuronx", "trn1": "torch_neuronx"}
COMPILERS = {"inf1": "neuron-cc", "inf2": "neuronx-cc", "trn1": "neuronx-cc"}


class FakeNeuron(types.ModuleType):
    """Takes what the library of a target takes, and traces for the CPU instead."""

    def __init__(self, name):
        super().__init__(name)
        self.shapes = []
        self.compiler_args = set()

    def trace(self, func, example_inputs, *, compiler_args):
        assert isinstance(example_inputs, tuple)
        for tensor in example_inputs:
            assert tensor.dtype == (torch.float32 if tensor.dim() == 4 else torch.int64)
            assert tensor.device.type == "cpu"
            assert tensor.shape == example_inputs[0].shape
            assert tensor.is_contiguous()
        assert not any(weight.requires_grad for weight in func.parameters())
        assert func.model.config._attn_implementation == "eager"
        self.shapes.append(tuple(example_inputs[0].shape))
        self.compiler_args.add(tuple(compiler_args))
        script = torch.jit.trace(func, example_inputs, check_trace=False)
        return script if example_inputs[0].dim() == 4 else fixed_shape(script, example_inputs[0].shape)


def fixed_shape(script, shape):
    """A module that takes one shape only, as a compiled one does."""

    class FixedShape(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.script = script
            self.rows: int = shape[0]
            self.length: int = shape[1]

        def forward(self, input_ids, attention_mask, token_type_ids):
            if input_ids.shape[0] != self.rows or input_ids.shape[1] != self.length:
                raise RuntimeError("another shape than compiled")
            return self.script(input_ids, attention_mask, token_type_ids)

    return torch.jit.script(FixedShape())


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    return tiny_models.save("bert", tmp_path_factory.mktemp("models") / "tiny-bert")


@pytest.fixture
def sdk(monkeypatch, tmp_path):
    """Installs the stand-ins of a target's library and compiler."""

    def install(target):
        library = FakeNeuron(LIBRARIES[target])
        monkeypatch.setitem(sys.modules, LIBRARIES[target], library)
        programs = tmp_path / "programs"
        programs.mkdir()
        (programs / COMPILERS[target]).write_text("#!/bin/sh\n")
        (programs / COMPILERS[target]).chmod(0o755)
        monkeypatch.setenv("PATH", str(programs))
        return library

    return install


@pytest.mark.parametrize(
    ("target", "precision", "arguments"),
    [
        ("inf1", "bf16", ("--fp32-cast", "matmult-bf16")),
        ("inf1", "fp16", ("--fp32-cast", "matmult-fp16")),
        (
            "inf2",
            "bf16",
            ("--target", "inf2", "--model-type=transformer", "--auto-cast=matmult", "--auto-cast-type=bf16"),
        ),
        ("inf2", "fp32", ("--target", "inf2", "--model-type=transformer", "--auto-cast=none")),
        (
            "trn1",
            "fp16",
            ("--target", "trn1", "--model-type=transformer", "--auto-cast=matmult", "--auto-cast-type=fp16"),
        ),
    ],
)
def test_the_compiler_is_told_the_precision(make, sdk, bert, tmp_path, target, precision, arguments):
    library = sdk(target)
    description = make(bert, tmp_path / "out", "--target", target, "--precision", precision)
    assert library.compiler_args == {arguments}
    assert (description["target"], description["precision"], description["shapes"]) == (target, precision, "compiled")


def test_every_combination_of_sizes_is_a_file(make, sdk, bert, tmp_path, capsys):
    library = sdk("inf2")
    sizes = ["--sequence-length", 64, 32, "--batch-size", 1, 4]
    description = make(bert, tmp_path / "out", "--target", "inf2", "--name", "model.tar.gz", *sizes)
    assert library.shapes == [(1, 32), (4, 32), (1, 64), (4, 64)]
    assert description["files"] == [
        {"path": "model-1x32.pt", "batch": 1, "sequence": 32},
        {"path": "model-4x32.pt", "batch": 4, "sequence": 32},
        {"path": "model-1x64.pt", "batch": 1, "sequence": 64},
        {"path": "model-4x64.pt", "batch": 4, "sequence": 64},
    ]
    assert all((tmp_path / "out" / file["path"]).exists() for file in description["files"])
    assert (tmp_path / "out" / "model.tar.gz").exists()
    captured = capsys.readouterr()
    assert captured.out.count("compiled, but not run; `./serve check DIR` does that on the instance") == 4
    assert "not verified: there is no Neuron device here" in captured.err


def test_the_default_is_one_row_of_the_longest_usual_length(make, sdk, bert, tmp_path):
    library = sdk("inf1")
    assert make(bert, tmp_path / "out", "--target", "inf1")["precision"] == "bf16"
    assert library.shapes == [(1, 64)]
    assert neuron.entries(None, None, 512) == [{"path": "model-1x384.pt", "batch": 1, "sequence": 384}]


def test_where_there_is_a_device_the_files_are_verified(monkeypatch, make, sdk, bert, tmp_path, capsys):
    sdk("inf2")
    monkeypatch.setattr(neuron, "has_device", lambda: True)
    make(bert, tmp_path / "out", "--target", "inf2", "--batch-size", 2)
    captured = capsys.readouterr()
    assert "verify on the NeuronCores" in captured.err
    assert "model-2x64.pt: largest logit difference from fp32 on the CPU" in captured.out
    assert "tokens/s on one NeuronCore" in captured.out


def test_a_file_that_answers_otherwise_is_refused(monkeypatch, sdk, refusal, bert):
    library = sdk("inf2")
    true_trace = library.trace

    def trace_with_other_weights(func, example_inputs, *, compiler_args):
        other = copy.deepcopy(func)
        other.model.qa_outputs.weight.mul_(-3)
        return true_trace(other, example_inputs, compiler_args=compiler_args)

    library.trace = trace_with_other_weights
    monkeypatch.setattr(neuron, "has_device", lambda: True)
    assert "model-1x64.pt: logits of shape [1, 64] differ by" in refusal(bert, "--target", "inf2")


def test_the_reference_pads_to_the_compiled_shapes(make, sdk, bert, tmp_path):
    sdk("inf2")
    make(bert, tmp_path / "compiled", "--target", "inf2", "--sequence-length", 40, 64, "--batch-size", 1, 2)
    make(bert, tmp_path / "dynamic")
    questions = tmp_path / "questions.jsonl"
    sample = json.loads((tmp_path / "dynamic" / "sample.json").read_text(encoding="utf-8"))
    case = {"name": "padded", **sample, "parameters": {"top_k": 2, "handle_impossible_answer": True}}
    questions.write_text(json.dumps(case) + "\n", encoding="utf-8")
    answers = []
    for artifact in ("compiled", "dynamic"):
        output = tmp_path / f"{artifact}.jsonl"
        write_answers(Reference(tmp_path / artifact), read_lines(questions), output)
        answers.append(read_lines(output)[0]["answers"])
    for compiled, dynamic in zip(*answers, strict=True):
        assert compiled["answer"] == dynamic["answer"]
        assert compiled["score"] == pytest.approx(dynamic["score"], abs=1e-5)


def test_the_sample_is_cut_to_the_compiled_length(make, sdk, bert, tmp_path):
    sdk("inf2")
    make(bert, tmp_path / "out", "--target", "inf2", "--sequence-length", 40)
    answer = json.loads((tmp_path / "out" / "sample-response.json").read_text(encoding="utf-8"))
    assert answer["answer"]


@pytest.mark.parametrize(
    ("sizes", "reason"),
    [
        (["--sequence-length", 65], "--sequence-length 65: the model takes at most 64 tokens"),
        (["--sequence-length", 0], "--sequence-length 0: expected at least 1"),
        (["--batch-size", 0], "--batch-size 0: expected at least 1"),
        (["--sequence-length", 8], "the sample does not fit the model: max_seq_len: 8 leaves 0 tokens for the context"),
    ],
)
def test_sizes_that_do_not_fit_are_refused(sdk, refusal, bert, sizes, reason):
    sdk("inf2")
    assert reason in refusal(bert, "--target", "inf2", *sizes)


def test_a_compiler_that_fails_is_named_in_one_line(sdk, refusal, bert):
    def fail(func, example_inputs, *, compiler_args):
        raise RuntimeError("line 1 of a long log\n\nERROR: unsupported operator")

    sdk("trn1").trace = fail
    line = refusal(bert, "--target", "trn1")
    assert line.endswith("the Neuron compiler can't compile the shape [1, 64]: ERROR: unsupported operator")


@pytest.mark.parametrize("target", LIBRARIES)
def test_a_missing_library_is_told_with_the_command_that_installs_it(monkeypatch, refusal, bert, target):
    monkeypatch.setitem(sys.modules, LIBRARIES[target], None)
    line = refusal(bert, "--target", target)
    file = "inf1" if target == "inf1" else "inf2"
    assert LIBRARIES[target] in line
    assert line.endswith(
        f"pip install --extra-index-url https://pip.repos.neuron.amazonaws.com -r trace/requirements-{file}.txt"
    )


@pytest.mark.parametrize("target", LIBRARIES)
def test_a_missing_compiler_is_told_too(monkeypatch, tmp_path, refusal, bert, target):
    monkeypatch.setitem(sys.modules, LIBRARIES[target], FakeNeuron(LIBRARIES[target]))
    monkeypatch.setenv("PATH", str(tmp_path))
    line = refusal(bert, "--target", target)
    assert f"the compiler {COMPILERS[target]} is not installed: pip install --extra-index-url" in line
