"""Traces tiny random models from end to end; needs no network."""

import copy
import gzip
import json
import re
import shutil
import subprocess
import sys
import tarfile
from pathlib import Path

import pytest
import tokenizers
import torch
import transformers

import artifact
import dynamic
import model as loading
import tiny_models
import torchscript
from answering import Answering
from examples import ENGLISH
from tiny_models import FAMILIES, LONGEST, SMALL

TRACE = Path(__file__).parent / "trace.py"
# What random weights answer is luck: many answers are nearly as good as the best.
ANY_AGREEMENT = ["--min-agreement", "0"]
SHAPES = [(1, 1), (1, LONGEST), (5, 17), (3, 40)]


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """The directory of a family's tiny model, made once."""
    directories = {}

    def get(family):
        if family not in directories:
            directories[family] = tiny_models.save(family, tmp_path_factory.mktemp("models") / f"tiny-{family}")
        return directories[family]

    return get


@pytest.fixture
def bert(saved, tmp_path):
    """A copy that a test may spoil."""
    return shutil.copytree(saved("bert"), tmp_path / "tiny-bert")


def rows(description, shape):
    """Random tokens, some rows padded at their end."""
    generator = torch.Generator().manual_seed(11)
    ids = torch.randint(4, 60, shape, generator=generator)
    mask = torch.ones_like(ids)
    if shape[1] > 4:
        mask[::2, -3:] = 0
    ids[mask == 0] = description["pair"]["padding"]
    tensors = {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}
    return [tensors[name] for name in description["inputs"]]


def untraced(directory, description, precision="fp32"):
    return loading.PositionalInputs(
        loading.at_precision(loading.load_model(str(directory)), precision), description["inputs"]
    )


@pytest.mark.parametrize("family", FAMILIES)
def test_a_traced_model_answers_any_shape_as_the_original(make, logits, saved, tmp_path, family):
    description = make(saved(family), tmp_path / "out")
    original = untraced(saved(family), description)
    for shape in SHAPES:
        inputs = rows(description, shape)
        with torch.no_grad():
            expected = original(*inputs)
        for found, side in zip(logits(tmp_path / "out", *inputs), expected, strict=True):
            assert found.shape == shape
            assert found.dtype == torch.float32
            torch.testing.assert_close(found, side, atol=1e-4, rtol=0)


@pytest.mark.parametrize("family", FAMILIES)
def test_a_gpu_model_runs_on_any_device(make, logits, saved, tmp_path, family):
    description = make(saved(family), tmp_path / "out", "--target", "gpu")
    assert description["precision"] == "fp16"
    original = untraced(saved(family), description, "fp16")
    elsewhere = torch.jit.load(str(tmp_path / "out" / "model.pt"))
    assert not torchscript.names_a_device(elsewhere)
    torchscript.to_device(elsewhere, "meta")
    for shape in SHAPES:
        inputs = rows(description, shape)
        with torch.no_grad():
            expected = original(*inputs)
            moved = elsewhere(*(tensor.to("meta") for tensor in inputs))
        for found, side, shadow in zip(logits(tmp_path / "out", *inputs), expected, moved, strict=True):
            assert found.dtype == shadow.dtype == torch.float32
            torch.testing.assert_close(found, side, atol=0.05, rtol=0)
            assert shadow.device.type == "meta"
            assert shadow.shape == shape


def test_a_trace_for_cpus_names_its_device(make, saved, tmp_path):
    """Otherwise the test above would prove nothing."""
    make(saved("albert"), tmp_path / "out")
    assert torchscript.names_a_device(torch.jit.load(str(tmp_path / "out" / "model.pt")))


@pytest.mark.parametrize(("target", "precision"), [("cpu", "bf16"), ("cpu", "int8"), ("gpu", "bf16"), ("gpu", "fp32")])
@pytest.mark.parametrize("family", ["bert", "roberta"])
def test_every_precision_takes_any_shape(make, logits, saved, tmp_path, family, target, precision):
    description = make(saved(family), tmp_path / "out", "--target", target, "--precision", precision, *ANY_AGREEMENT)
    assert (description["target"], description["precision"]) == (target, precision)
    for shape in SHAPES:
        for side in logits(tmp_path / "out", *rows(description, shape)):
            assert side.shape == shape
            assert side.dtype == torch.float32
            assert torch.isfinite(side).all()


def test_padding_leaves_the_logits_of_a_row_alone(make, logits, saved, tmp_path):
    make(saved("bert"), tmp_path / "out")
    ids = torch.tensor([[2, 6, 7, 3, 8, 3]])
    padded = torch.cat([ids, torch.zeros(1, 9, dtype=torch.long)], dim=1)
    alone, _ = logits(tmp_path / "out", ids, torch.ones_like(ids), torch.zeros_like(ids))
    beside, _ = logits(tmp_path / "out", padded, (torch.arange(15) < 6).long()[None], torch.zeros_like(padded))
    torch.testing.assert_close(beside[:, :6], alone)


@pytest.mark.parametrize("family", FAMILIES)
def test_model_json_says_what_a_model_takes(make, saved, tmp_path, family):
    description = make(saved(family), tmp_path / "out")
    types = ["token_type_ids"] if FAMILIES[family].token_types else []
    assert description["inputs"] == ["input_ids", "attention_mask", *types]
    assert description["maxSequenceLength"] == FAMILIES[family].longest
    assert "parameters" not in description
    tokenizer = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    pair = description["pair"]
    question, context = (tokenizer.encode(text, add_special_tokens=False).ids for text in ("where?", "in warsaw."))
    ids = pair["before"] + question + pair["between"] + context + pair["after"]
    assert tokenizer.encode("where?", "in warsaw.").ids == ids


def test_model_json_describes_a_bert(make, bert, tmp_path):
    credit = ["--licence", "MIT", "--attribution", "Ada", "--attribution", "Grace"]
    description = make(bert, tmp_path / "out", "--precision", "int8", *ANY_AGREEMENT, *credit)
    agreement = description.pop("agreement")
    assert agreement.keys() == {"questions", "sameAnswers", "largestScoreDifference"}
    assert description == {
        "format": 1,
        "task": "question-answering",
        "target": "cpu",
        "precision": "int8",
        "torch": torch.__version__.split("+")[0],
        "inputs": ["input_ids", "attention_mask", "token_type_ids"],
        "outputs": ["start_logits", "end_logits"],
        "independentRows": True,
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


def test_an_artifact_is_the_same_every_time(bert, tmp_path):
    """In processes of their own, as TorchScript numbers the classes that one process traces."""
    one, two = tmp_path / "one", tmp_path / "two"
    command = [sys.executable, TRACE, "--model", bert, "--target", "gpu", "--name", "model.tar.gz", "--output"]
    for output in (one, two):
        subprocess.run([*command, output], check=True)
    for file in one.iterdir():
        assert file.read_bytes() == (two / file.name).read_bytes(), file.name


def test_the_stored_tokenizer_neither_cuts_nor_pads(make, bert, tmp_path):
    make(bert, tmp_path / "out")
    stored = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    assert stored.truncation is None
    assert stored.padding is None


def test_an_added_token_without_an_embedding_is_left_out(make, bert, tmp_path):
    tokenizer = tokenizers.Tokenizer.from_file(str(bert / "tokenizer.json"))
    tokenizer.add_special_tokens(["[EXTRA]"])
    tokenizer.save(str(bert / "tokenizer.json"))
    make(bert, tmp_path / "out")
    stored = tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json"))
    assert stored.token_to_id("[EXTRA]") is None


@pytest.mark.parametrize("family", ["bert", "roberta", "xlm-roberta"])
def test_the_sample_is_what_the_original_answers(make, saved, tmp_path, family):
    description = make(saved(family), tmp_path / "out")
    sample, answer = (read_json(tmp_path / "out" / name) for name in ("sample.json", "sample-response.json"))
    assert sample == ENGLISH.sample
    assert answer["answer"] == sample["context"][answer["start"] : answer["end"]]
    pipeline = Answering(description, tokenizers.Tokenizer.from_file(str(tmp_path / "out" / "tokenizer.json")))
    assert answer == pipeline.best_answer(untraced(saved(family), description), **sample)


def read_json(path):
    return json.loads(path.read_text(encoding="utf-8"))


def test_an_archive_holds_the_artifact_and_nothing_else(make, bert, tmp_path):
    output = tmp_path / "out"
    (output / "code" / "__pycache__").mkdir(parents=True)
    (output / "code" / "handler.jar").write_bytes(b"jar")
    (output / "code" / "__pycache__" / "stale.pyc").write_bytes(b"stale")
    (output / "model-1x128.pt").write_bytes(b"of an earlier trace")
    (output / "model.tar.gz").write_bytes(b"of an earlier trace")
    make(bert, output, "--name", "model.tar.gz")
    with tarfile.open(output / "model.tar.gz") as archive:
        entries = archive.getmembers()
        archive.extractall(tmp_path / "unpacked", filter="data")
    names = ["code/handler.jar", "model.json", "model.pt", "sample-response.json", "sample.json", "tokenizer.json"]
    assert [entry.name for entry in entries] == names
    assert {(entry.mtime, entry.uid, entry.gid, entry.uname, entry.gname, entry.mode) for entry in entries} == {
        (0, 0, 0, "", "", 0o644)
    }
    for name in names:
        assert (tmp_path / "unpacked" / name).read_bytes() == (output / name).read_bytes()
    torch.jit.load(str(tmp_path / "unpacked" / "model.pt"))
    assert not list(output.glob("*.unfinished"))


def test_an_archive_does_not_tell_when_it_was_packed(make, bert, tmp_path):
    make(bert, tmp_path / "out", "--name", "model.tar.gz")
    first = (tmp_path / "out" / "model.tar.gz").read_bytes()
    for file in (tmp_path / "out").iterdir():
        file.touch()
    assert artifact.pack(tmp_path / "out", "model.tar.gz").read_bytes() == first
    assert gzip.decompress(first)


@pytest.mark.parametrize(
    ("arguments", "reason"),
    [
        (["--precision", "fp16"], "--precision fp16 --target cpu: CPUs gain nothing from it"),
        (["--precision", "int8", "--target", "gpu"], "--precision int8 --target gpu: .* no GPU kernels"),
        (["--precision", "int8", "--target", "inf2"], "--target inf2: the Neuron compilers have no int8"),
        (["--precision", "fp32", "--target", "inf1"], "--target inf1: Inf1 multiplies matrices in bf16"),
        (["--sequence-length", "128"], "--sequence-length: a model for cpu takes any length and batch size"),
        (["--batch-size", "4", "--target", "gpu"], "--batch-size: a model for gpu takes any length and batch size"),
        (["--min-agreement", "94"], "--min-agreement 94: expected a share between 0 and 1"),
        (["--name", "elsewhere/model.tar.gz"], "--name elsewhere/model.tar.gz: expected a file name"),
        (["--name", "model.json"], "--name model.json: expected a file name such as model.tar.gz"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(refusal, bert, arguments, reason):
    assert_matches(refusal(bert, *arguments), reason)


def assert_matches(line, reason):
    assert line.startswith("error: ")
    assert re.search(reason, line), line


def test_an_output_that_cannot_be_written_to_is_refused(make, bert, tmp_path):
    (tmp_path / "file").write_text("")
    for output in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(SystemExit, match=f"--output {output}: {tmp_path / 'file'} is no directory"):
            make(bert, output)
    (tmp_path / "out" / "model.pt").mkdir(parents=True)
    with pytest.raises(SystemExit, match="--output .*model.pt"):
        make(bert, tmp_path / "out")
    assert not (tmp_path / "out" / "model.json").exists()


def test_a_directory_that_is_not_there_is_refused(refusal, tmp_path):
    assert_matches(refusal(tmp_path / "nowhere"), "there is no such directory")


def test_a_directory_without_a_model_is_refused(refusal, tmp_path):
    (tmp_path / "empty").mkdir()
    assert_matches(refusal(tmp_path / "empty"), "can't be loaded for question answering")


def test_a_model_that_was_never_taught_to_answer_is_refused(refusal, bert):
    config = transformers.BertConfig.from_pretrained(bert)
    transformers.BertModel(config).save_pretrained(bert)
    assert_matches(refusal(bert), "has no weights for qa_outputs.bias, qa_outputs.weight; take one fine-tuned")


def test_a_model_without_a_padding_token_is_refused(refusal, bert):
    config = read_json(bert / "config.json") | {"pad_token_id": None}
    (bert / "config.json").write_text(json.dumps(config), encoding="utf-8")
    assert_matches(refusal(bert), "pad_token_id is missing")


@pytest.mark.parametrize("precision", ["fp32", "int8", "bf16"])
def test_a_model_that_differs_from_its_original_is_refused(monkeypatch, refusal, bert, precision):
    true_trace = torchscript.trace

    def trace_with_other_weights(module, example):
        other = copy.deepcopy(module)
        for weight in other.parameters():
            weight.data.mul_(-3)
        return true_trace(other, example)

    monkeypatch.setattr(torchscript, "trace", trace_with_other_weights)
    assert_matches(refusal(bert, "--precision", precision, *ANY_AGREEMENT), "differ.* from (the|those of the) untraced model")


@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
def test_logits_that_are_no_numbers_are_refused(refusal, bert, precision):
    model = transformers.BertForQuestionAnswering.from_pretrained(bert)
    model.qa_outputs.bias.data[0] = float("nan")
    model.save_pretrained(bert)
    assert_matches(refusal(bert, "--precision", precision), "logits that are no finite numbers")


def test_fp16_that_overflows_is_refused(refusal, bert):
    model = transformers.BertForQuestionAnswering.from_pretrained(bert)
    model.qa_outputs.weight.data.mul_(1e5)
    model.save_pretrained(bert)
    assert_matches(refusal(bert, "--target", "gpu"), "logits that are no finite numbers")


def test_a_model_with_other_outputs_is_refused(monkeypatch, refusal, bert):
    true_forward = loading.PositionalInputs.forward

    def forward_without_the_first_token(self, *inputs):
        return tuple(side[:, 1:] for side in true_forward(self, *inputs))

    monkeypatch.setattr(loading.PositionalInputs, "forward", forward_without_the_first_token)
    assert_matches(refusal(bert), "expected a float32 logit for each token")


def test_a_trace_that_fits_one_shape_only_is_refused(monkeypatch, refusal, bert):
    true_forward = loading.PositionalInputs.forward

    def forward_with_a_recorded_length(self, *inputs):
        length = int(inputs[0].shape[1])
        start, end = true_forward(self, *inputs)
        return start + torch.zeros(length), end

    monkeypatch.setattr(loading.PositionalInputs, "forward", forward_with_a_recorded_length)
    assert_matches(refusal(bert), "the trace fails on inputs of shape")


@pytest.mark.parametrize(
    ("config", "reason"),
    [
        (transformers.LongformerConfig(attention_window=[16, 16], **SMALL), "Longformer.*: counts the windows of its"),
        (tiny_models.bart(transformers.LEDConfig)(300, attention_window=16), "LED.*: counts the windows of its"),
        (transformers.FunnelConfig(block_sizes=[2, 2], d_model=32, n_head=4, d_head=8), "Funnel.*: counts its positions"),
        (transformers.NystromformerConfig(**SMALL), "Nystromformer.*: takes rows of one length only"),
        (transformers.XLNetConfig(d_model=32, n_layer=2, n_head=4, d_inner=64), "XLNet.*: writes its CLS token behind"),
        (transformers.YosoConfig(**SMALL), "Yoso.*: attends by a function that no trace can hold"),
        (transformers.CanineConfig(**SMALL), "Canine.*: reads characters and no tokens"),
        (tiny_models.bert_like(transformers.FNetConfig)(300), "FNet.*: padding changes its logits by .* and its answers"),
        (tiny_models.bert_like(transformers.ConvBertConfig, embedding_size=32)(300), "ConvBert.*: padding changes its"),
        (
            transformers.BloomConfig(vocab_size=300, hidden_size=32, n_layer=2, n_head=4, pad_token_id=0),
            "Bloom.* can't be traced: Could not export Python function",
        ),
    ],
    ids=lambda value: value.model_type if isinstance(value, transformers.PretrainedConfig) else "",
)  # fmt: skip
def test_a_family_that_no_artifact_can_be_made_of_is_refused(refusal, bert, config, reason):
    tiny_models.save_model(config, bert)
    line = refusal(bert)
    assert_matches(line, reason)
    assert "/" not in line, "a frame of the stack"


def test_a_model_whose_scores_depend_on_padding_is_warned_of(monkeypatch, capsys, make, bert, tmp_path):
    """Its logits do, and not its answers."""
    true_forward = loading.PositionalInputs.forward

    def forward_that_counts_tokens(self, *inputs):
        start, end = true_forward(self, *inputs)
        return start + inputs[0].shape[1] * 0.1, end

    monkeypatch.setattr(loading.PositionalInputs, "forward", forward_that_counts_tokens)
    make(bert, tmp_path / "out")
    assert re.search(
        r"warning: BertForQuestionAnswering: padding changes its logits by 1\.6, of up to .*depend a little",
        capsys.readouterr().err,
    )


def test_a_model_whose_rows_depend_on_each_other_is_refused(monkeypatch, refusal, bert):
    true_forward = loading.PositionalInputs.forward

    def forward_that_centres(self, *inputs):
        start, end = true_forward(self, *inputs)
        return start - start.mean(0, keepdim=True), end

    monkeypatch.setattr(loading.PositionalInputs, "forward", forward_that_centres)
    assert_matches(
        refusal(bert),
        r"BertForQuestionAnswering: its rows depend on each other, other rows change its logits of a row by .* of up to .*",
    )


def test_a_model_without_a_longest_input_takes_512_tokens(capsys, make, saved, tmp_path):
    make(saved("t5"), tmp_path / "out")
    assert "warning: T5ForQuestionAnswering has no longest input; the artifact takes up to 512 tokens" in (
        capsys.readouterr().err
    )


def test_big_bird_takes_the_rows_that_it_attends_to_fully(capsys, make, logits, bert, tmp_path):
    """Beyond, its attention is another one; there a trace would answer otherwise than transformers."""
    vocabulary = tokenizers.Tokenizer.from_file(str(bert / "tokenizer.json")).get_vocab_size()
    tiny_models.save_model(tiny_models.big_bird(vocabulary, block_size=4), bert)
    description = make(bert, tmp_path / "out")
    assert description["maxSequenceLength"] == 28
    assert "attends sparsely beyond 28 tokens" in capsys.readouterr().err
    names = description["inputs"]
    for length, is_equal in ((28, True), (32, False)):
        inputs = [tensor.clone() for tensor in rows(description, (1, length))]
        inputs[names.index("attention_mask")].fill_(1)
        fresh = transformers.AutoModelForQuestionAnswering.from_pretrained(bert).eval()
        with torch.no_grad():
            expected = fresh(**dict(zip(names, inputs, strict=True))).start_logits
        found, _ = logits(tmp_path / "out", *inputs)
        assert torch.allclose(found, expected, atol=1e-4) == is_equal


def test_long_rows_are_verified_up_to_a_length_that_is_said(capsys, make, bert, tmp_path):
    config = transformers.BertConfig.from_pretrained(bert)
    config.max_position_embeddings = 2000
    tiny_models.save_model(config, bert)
    description = make(bert, tmp_path / "out")
    assert description["maxSequenceLength"] == 2000
    assert "shapes of up to 1024 of the model's 2000 tokens on the CPU" in capsys.readouterr().out


def test_a_gpu_trace_that_is_bound_to_one_device_is_refused(monkeypatch, refusal, bert):
    monkeypatch.setattr(torchscript, "forget_devices", lambda script: None)
    assert_matches(refusal(bert, "--target", "gpu"), "its trace names a device that can't be taken out")
    monkeypatch.setattr(torchscript, "names_a_device", lambda script: False)
    assert_matches(refusal(bert, "--target", "gpu"), "its trace is bound to one device")


def test_bf16_on_a_cpu_without_it_is_warned_of(monkeypatch, capsys, make, bert, tmp_path):
    monkeypatch.setattr("trace.computes_bf16", lambda: False)
    make(bert, tmp_path / "out", "--precision", "bf16", *ANY_AGREEMENT)
    assert "warning: this CPU has no bf16 instructions" in capsys.readouterr().err


def test_progress_and_results_are_told_apart(capsys, make, bert, tmp_path):
    make(bert, tmp_path / "out", "--name", "model.tar.gz")
    captured = capsys.readouterr()
    steps = [line.split("s  ", 1)[1].split()[0] for line in captured.err.splitlines()]
    assert steps == ["load", "answer", "trace", "verify", "write", "pack"]
    assert "largest logit difference from the untraced model" in captured.out
    assert "tokens/s on one thread of the CPU" in captured.out
    assert dynamic.FILE in captured.out
