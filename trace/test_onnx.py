"""Exports tiny models of every task to ONNX, and compares the file with transformers' pipeline."""

import json
from types import SimpleNamespace

import pytest
import torch
import transformers

import onnx_format
import picture_models
import task_models
import tasks
import tiny_models
from subject import load_subject
from test_trace import ANY_AGREEMENT

pytest.importorskip("onnxruntime")
onnx = pytest.importorskip("onnx")

SMALL_DECODER = {
    "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "head_dim": 8, "vocab_size": 16,
}  # fmt: skip
PIPELINES = [task for task in tasks.TASKS if task not in ("question-answering", "image-classification")]


@pytest.mark.parametrize("family", task_models.FAMILIES)
@pytest.mark.parametrize("task", PIPELINES)
def test_the_file_answers_as_the_pipeline(make, tmp_path, capsys, task, family):
    model = task_models.save(task, family, tmp_path / "model")
    description = make(model, tmp_path / "out", "--format", "onnx")
    assert description["files"] == [{"path": "model.onnx"}]
    assert "pipeline: 4 answers as with the untraced model" in capsys.readouterr().out


@pytest.mark.parametrize("family", ["bert", "distilbert", "roberta"])
def test_questions_are_answered_as_untraced(make, tmp_path, family):
    make(tiny_models.save(family, tmp_path / "model"), tmp_path / "out", "--format", "onnx")
    assert "answer" in json.loads((tmp_path / "out" / "sample-response.json").read_text(encoding="utf-8"))


@pytest.mark.parametrize("family", picture_models.FAMILIES)
def test_pictures_have_their_labels(make, tmp_path, capsys, family):
    make(picture_models.save(family, tmp_path / "model"), tmp_path / "out", "--format", "onnx")
    assert "pipeline: 5 answers as with the untraced model" in capsys.readouterr().out


def test_int8_says_how_far_it_agrees(trace, tmp_path):
    model = tiny_models.save("bert", tmp_path / "model")
    for precision in ("fp32", "int8"):
        trace(model, tmp_path / precision, "--format", "onnx", "--precision", precision, *ANY_AGREEMENT)
    description = json.loads((tmp_path / "int8" / "model.json").read_text(encoding="utf-8"))
    assert description["agreement"]["questions"] > 100
    sizes = [(tmp_path / precision / "model.onnx").stat().st_size for precision in ("int8", "fp32")]
    assert sizes == sorted(sizes)


def test_the_largest_channels_of_activations_stay_in_fp32(tmp_path, monkeypatch):
    subject = load_subject(tiny_models.save("bert", tmp_path / "model"), None)
    for layer in subject.model.bert.encoder.layer:
        layer.intermediate.dense.bias.data[3] = 100
        layer.output.dense.weight.data[:, 3] /= 100
    expected = subject.module("fp32")

    def difference() -> float:
        file = onnx_format.exporting(subject).module("int8")
        pairs = [zip(file(*batch), expected(*batch), strict=True) for batch in subject.batches()]
        return sum((one - other).square().mean().item() for pair in pairs for one, other in pair)

    apart = difference()
    monkeypatch.setattr(onnx_format, "OUTLIERS", 0)
    assert apart < difference() / 2


def test_attention_is_one_operator_where_a_model_leaves_the_choice(make, tmp_path):
    make(tiny_models.save("bert", tmp_path / "bert"), tmp_path / "texts", "--format", "onnx")
    make(picture_models.save("vit", tmp_path / "vit"), tmp_path / "pictures", "--format", "onnx")
    make(tiny_models.save("deberta", tmp_path / "deberta"), tmp_path / "own", "--format", "onnx")
    texts, pictures, own = (
        onnx.load(tmp_path / name / "model.onnx").graph.node for name in ("texts", "pictures", "own")
    )
    choices = [[part.g.node[0] for part in node.attribute] for node in texts if node.op_type == "If"]
    inputs = [len(node.input) for choice in choices for node in choice if node.op_type == "MultiHeadAttention"]
    assert sorted(inputs) == [3, 3, 6, 6]
    assert [len(node.input) for node in pictures if node.op_type == "MultiHeadAttention"] == [3] * 2
    assert "Softmax" not in {node.op_type for node in [*texts, *pictures]}
    assert "Softmax" in {node.op_type for node in own}


@pytest.mark.parametrize(
    "config",
    [
        transformers.Qwen3Config(num_key_value_heads=1, **SMALL_DECODER),
        transformers.Gemma2Config(num_key_value_heads=2, attn_logit_softcapping=0.1, initializer_range=1.0, **SMALL_DECODER),
    ],
    ids=["fewer heads of keys", "scores that are capped"],
)
def test_attention_of_another_kind_is_exported_as_it_is(config):
    module = AnyVectors(transformers.AutoModel.from_config(config, attn_implementation="eager")).eval()
    subject = SimpleNamespace(
        model=module.model, inputs=["input_ids", "attention_mask"], task=SimpleNamespace(name="", outputs=["vectors"]),
        unit="tokens", example=lambda: [torch.tensor([[5, 6, 7, 8], [9, 8, 7, 6]]), torch.ones(2, 4, dtype=torch.long)],
    )  # fmt: skip
    file = onnx_format.Loaded(onnx_format.exported(subject, module), subject.inputs)
    rows, mask = torch.tensor([[7, 8, 9, 1, 2]]), torch.ones(1, 5, dtype=torch.long)
    assert torch.allclose(file(rows, mask), module(rows, mask), atol=1e-4)


class AnyVectors(torch.nn.Module):
    def __init__(self, model: torch.nn.Module):
        super().__init__()
        self.model = model

    def forward(self, rows, mask):
        return self.model(input_ids=rows, attention_mask=mask, use_cache=False).last_hidden_state


def test_a_model_attends_as_before_once_it_is_exported(tmp_path):
    subject = load_subject(tiny_models.save("bert", tmp_path / "model"), onnx_format.ATTENTION)
    onnx_format.exported(subject, subject.module("fp32"))
    assert subject.model.config._attn_implementation == onnx_format.ATTENTION


def test_what_onnx_is_not_for_is_refused(refusal, tmp_path):
    model = tiny_models.save("bert", tmp_path / "model")
    assert "--format onnx --target gpu" in refusal(model, "--format", "onnx", "--target", "gpu")
    assert "expected fp32 or int8" in refusal(model, "--format", "onnx", "--precision", "bf16")
