"""Traces tiny random models from end to end; needs no network."""

import json
import sys

import pytest
import tokenizers
import torch
import transformers
from tokenizers import models, pre_tokenizers, processors

import trace as tracer

WORDS = "where was marie curie born in warsaw the lighthouse who wrote a letter today ? .".split()


@pytest.fixture(autouse=True)
def quiet_and_repeatable():
    tracer.silence_expected_warnings()
    torch.manual_seed(7)


@pytest.fixture
def bert(tmp_path):
    """The directory of a BERT whose tokenizer asks for truncation and padding, as stored ones often do."""
    tokenizer = tokenizers.Tokenizer(models.WordPiece(vocabulary("[PAD]", "[UNK]", "[CLS]", "[SEP]"), unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=[("[CLS]", 2), ("[SEP]", 3)]
    )
    tokenizer.enable_truncation(12)
    tokenizer.enable_padding()
    config = transformers.BertConfig(pad_token_id=0, max_position_embeddings=64, **sizes(tokenizer))
    return save(transformers.BertForQuestionAnswering(config), tokenizer, tmp_path / "tiny-bert")


@pytest.fixture
def roberta(tmp_path):
    tokenizer = tokenizers.Tokenizer(models.WordPiece(vocabulary("<s>", "<pad>", "</s>", "<unk>"), unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    config = transformers.RobertaConfig(
        pad_token_id=1, bos_token_id=0, eos_token_id=2, type_vocab_size=1, max_position_embeddings=66, **sizes(tokenizer)
    )
    return save(transformers.RobertaForQuestionAnswering(config), tokenizer, tmp_path / "tiny-roberta")


def vocabulary(*special):
    return {word: index for index, word in enumerate([*special, *WORDS])}


def sizes(tokenizer):
    return {
        "vocab_size": tokenizer.get_vocab_size(),
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "intermediate_size": 64,
        "initializer_range": 0.5,
    }


def save(model, tokenizer, directory):
    model.save_pretrained(directory)
    tokenizer.save(str(directory / "tokenizer.json"))
    return directory


def make(monkeypatch, model, output, *more):
    monkeypatch.setattr(sys, "argv", ["trace.py", "--model", str(model), "--output", str(output), *more])
    tracer.main()
    return json.loads((output / "model.json").read_text(encoding="utf-8"))


def logits(output, *inputs):
    with torch.no_grad():
        return torch.jit.load(str(output / "model.pt"))(*inputs)


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_a_traced_bert_takes_any_batch_and_length(monkeypatch, bert, tmp_path, precision):
    make(monkeypatch, bert, tmp_path / "out", "--precision", precision)
    for shape in [(1, 1), (1, 64), (5, 17)]:
        ids = torch.full(shape, 6)
        start, end = logits(tmp_path / "out", ids, torch.ones_like(ids), torch.zeros_like(ids))
        assert start.shape == end.shape == shape
        assert start.dtype == end.dtype == torch.float32


def test_padding_leaves_the_logits_of_a_row_alone(monkeypatch, bert, tmp_path):
    make(monkeypatch, bert, tmp_path / "out")
    ids = torch.tensor([[2, 6, 7, 3, 8, 3]])
    padded = torch.cat([ids, torch.zeros(1, 9, dtype=torch.long)], dim=1)
    alone, _ = logits(tmp_path / "out", ids, torch.ones_like(ids), torch.zeros_like(ids))
    beside, _ = logits(tmp_path / "out", padded, (torch.arange(15) < 6).long()[None], torch.zeros_like(padded))
    torch.testing.assert_close(beside[:, :6], alone)


def test_model_json_describes_a_bert(monkeypatch, bert, tmp_path):
    credit = ["--licence", "MIT", "--attribution", "Ada", "--attribution", "Grace"]
    description = make(monkeypatch, bert, tmp_path / "out", "--precision", "int8", *credit)
    assert description == {
        "format": 1,
        "task": "question-answering",
        "target": "cpu",
        "precision": "int8",
        "torch": torch.__version__.split("+")[0],
        "inputs": ["input_ids", "attention_mask", "token_type_ids"],
        "outputs": ["start_logits", "end_logits"],
        "shapes": "dynamic",
        "files": [{"path": "model.pt"}],
        "maxSequenceLength": 64,
        "pair": {"before": [2], "between": [3], "after": [3], "padding": 0, "questionType": 0, "contextType": 1},
        "provenance": {
            "model": "tiny-bert",
            "architecture": "BertForQuestionAnswering",
            "licence": "MIT",
            "attribution": ["Ada", "Grace"],
        },
    }


def test_model_json_is_the_same_every_time(monkeypatch, bert, tmp_path):
    assert make(monkeypatch, bert, tmp_path / "one") == make(monkeypatch, bert, tmp_path / "two")


def test_the_stored_tokenizer_neither_cuts_nor_pads(monkeypatch, bert, tmp_path):
    make(monkeypatch, bert, tmp_path / "out")
    stored = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    assert stored.truncation is None
    assert stored.padding is None


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_roberta_has_no_token_types_and_two_separators(monkeypatch, roberta, tmp_path, precision):
    description = make(monkeypatch, roberta, tmp_path / "out", "--precision", precision)
    assert description["inputs"] == ["input_ids", "attention_mask"]
    assert description["maxSequenceLength"] == 64
    assert description["pair"] == {
        "before": [0], "between": [2, 2], "after": [2], "padding": 1, "questionType": 0, "contextType": 0
    }  # fmt: skip


@pytest.mark.parametrize("precision", ["fp32", "int8"])
def test_a_model_that_differs_from_its_original_is_refused(monkeypatch, capsys, bert, tmp_path, precision):
    true_trace = tracer.trace

    def trace_with_other_weights(module, example):
        file = true_trace(module, example)
        for weight in module.parameters():
            weight.data.mul_(-3)
        return file

    monkeypatch.setattr(tracer, "trace", trace_with_other_weights)
    with pytest.raises(SystemExit) as exit:
        make(monkeypatch, bert, tmp_path / "out", "--precision", precision)
    assert "differ" in str(exit.value) and "from" in str(exit.value)
    assert not (tmp_path / "out").exists()


def test_a_model_without_a_fast_tokenizer_is_refused(monkeypatch, bert, tmp_path):
    (bert / "tokenizer.json").unlink()
    with pytest.raises(SystemExit, match="has no tokenizer.json"):
        make(monkeypatch, bert, tmp_path / "out")
