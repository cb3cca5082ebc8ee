"""Traces tiny models of every task, and compares the file with transformers' pipeline and sentence-transformers."""

import json
import shutil
import tarfile
import types

import pytest
import torch
import transformers

import agreement
import asking
import pooling
import quantisation
import task_fixtures
import task_models
import tasks
import verification
from model import longest_sequence
from refused import Refused
from subject import load_subject
from task_models import FAMILIES, LABELS
from test_trace import ANY_AGREEMENT

# test_pictures.py has image classification.
SERVED = [task for task in tasks.TASKS if task not in ("question-answering", "image-classification")]


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """The directory of a tiny model, made once."""
    directories = {}

    def get(task, family):
        if (task, family) not in directories:
            directory = tmp_path_factory.mktemp("models") / f"{task}-{family}"
            directories[task, family] = task_models.save(task, family, directory)
        return directories[task, family]

    return get


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("task", SERVED)
def test_the_file_answers_as_the_pipeline(make, saved, tmp_path, capsys, task, family):
    description = make(saved(task, family), tmp_path / "out")
    assert description["task"] == task
    assert description["outputs"] == tasks.TASKS[task].outputs
    assert description.get("labels") == LABELS.get(task)
    assert "pipeline: 4 answers as with the untraced model" in capsys.readouterr().out
    sample = json.loads((tmp_path / "out" / "sample.json").read_text(encoding="utf-8"))
    answer = json.loads((tmp_path / "out" / "sample-response.json").read_text(encoding="utf-8"))
    if tasks.TASKS[task] not in tasks.EMBEDDINGS:
        pipeline = transformers.pipeline(task, model=str(saved(task, family)), device="cpu")
        assert asking.alike(asking.rounded(pipeline(sample["inputs"])), answer)


@pytest.mark.parametrize("target", ["cpu", "gpu"])
@pytest.mark.parametrize("task", SERVED)
def test_lower_precisions_say_how_far_they_agree(trace, saved, tmp_path, task, target):
    precision = {"cpu": "int8", "gpu": "fp16"}[target]
    options = ["--target", target, "--precision", precision, *ANY_AGREEMENT]
    description = trace(saved(task, "bert"), tmp_path / "out", *options)
    assert description["agreement"]["questions"] > 10
    # Another machine rounds otherwise, and the server would refuse to start.
    assert not (tmp_path / "out" / "sample-response.json").exists()


@pytest.mark.parametrize("family", FAMILIES)
def test_vectors_of_lower_precision_are_compared_by_their_cosine(saved, family):
    subject = load_subject(str(saved("sentence-embeddings", family)), None, task=tasks.SENTENCE_EMBEDDINGS)
    measured = agreement.measure(subject, "int8")
    one, other = (
        torch.cat([verification.run(subject.module(precision), row) for row in subject.compared()])
        for precision in ("fp32", "int8")
    )
    cosines = torch.nn.functional.cosine_similarity(one, other)
    assert measured.same_answers == int((cosines >= agreement.SAME_VECTOR).sum())
    assert measured.largest_score_difference == pytest.approx(1 - cosines.min().item(), abs=1e-5)


def one_label(tmp_path):
    """As a reranker has it."""
    return task_models.save(
        "text-classification", "bert", tmp_path / "model", id2label={0: "relevance"}, label2id={"relevance": 0}
    )


def number(value):
    return torch.tensor([[value]])


def test_numbers_of_one_label_must_be_near_to_each_other():
    rows = [(number(-3.3), number(-3.2)), (number(4.0), number(1.5)), (number(0.5), number(0.8))]
    assert agreement.same_classes(rows, "sigmoid") == 2
    assert agreement.same_classes([(one, one) for one, _ in rows], "none") == 3


def test_labels_that_do_not_exclude_each_other_must_be_the_same():
    rows = [(torch.tensor([[3.0, 0.5]]), torch.tensor([[2.0, -0.5]])), (torch.tensor([[1.0, -1.0]]),) * 2]
    assert agreement.same_classes(rows, "softmax") == 2
    assert agreement.same_classes(rows, "sigmoid") == 1


def test_a_model_of_one_label_is_asked_about_pairs_and_compared_by_its_numbers(tmp_path, monkeypatch):
    subject = load_subject(str(one_label(tmp_path)), None, task=tasks.TEXT_CLASSIFICATION)
    compared = subject.compared()
    assert all(row[subject.inputs.index("token_type_ids")].any() for row in compared)
    numbers = torch.cat([verification.run(subject.module("fp32"), row) for row in compared])
    assert agreement.measure(subject, "fp32") == agreement.Agreement(len(compared), len(compared), 0)

    class Shifted(torch.nn.Module):
        def forward(self, *row):
            return exact(*row) + 0.1 * (numbers.max() - numbers.min())

    exact = subject.module("fp32")
    monkeypatch.setattr(type(subject), "module", lambda _, precision: exact if precision == "fp32" else Shifted())
    measured = agreement.measure(subject, "int8")
    assert measured.same_answers == 0
    scores = (torch.sigmoid(numbers + 0.1 * (numbers.max() - numbers.min())) - torch.sigmoid(numbers)).abs().max()
    assert measured.largest_score_difference == pytest.approx(scores.item(), abs=1e-5)


def test_a_file_of_one_label_is_held_to_its_numbers():
    near, far = (verification.Comparison([1, 9], difference, 4.0, 1, True) for difference in (0.1, 0.3))
    verification.verify("the trace", [near], "int8")
    with pytest.raises(Refused, match="logits of shape .* differ by 0.3 from the untraced model, expected at most 0.2"):
        verification.verify("the trace", [near, far], "int8")


@pytest.mark.parametrize(
    ("task", "family", "head"),
    [
        ("text-classification", "bert", "classifier"),
        ("text-classification", "roberta", "classifier.dense"),
        ("fill-mask", "bert", "cls.predictions.transform.dense"),
        ("fill-mask", "roberta", "lm_head.decoder"),
    ],
)
def test_heads_stay_fp32_in_int8(saved, task, family, head):
    original = load_subject(str(saved(task, family)), None, task=tasks.TASKS[task]).model
    quantised = quantisation.quantise(original)
    assert type(quantised.get_submodule(head)) is torch.nn.Linear
    assert any(isinstance(module, quantisation.Linear) for module in quantised.modules())


@pytest.mark.parametrize("family", FAMILIES)
def test_a_file_answers_for_masks_alone(make, saved, logits, tmp_path, family):
    make(saved("fill-mask", family), tmp_path / "out")
    tokenizer = transformers.AutoTokenizer.from_pretrained(saved("fill-mask", family))
    mask = tokenizer.mask_token
    rows = tokenizer([f"{mask} and {mask}", "none", f"a {mask} b"], padding=True, return_tensors="pt")
    model = transformers.AutoModelForMaskedLM.from_pretrained(saved("fill-mask", family))
    with torch.no_grad():
        expected = model(**rows).logits[rows["input_ids"] == tokenizer.mask_token_id]
    description = json.loads((tmp_path / "out" / "model.json").read_text(encoding="utf-8"))
    torch.testing.assert_close(logits(tmp_path / "out", *(rows[name] for name in description["inputs"])), expected)


def test_an_archive_has_the_settings_of_the_tokenizer(make, saved, tmp_path):
    make(saved("fill-mask", "bert"), tmp_path / "out", "--name", "model.tar.gz")
    with tarfile.open(tmp_path / "out" / "model.tar.gz") as archive:
        names = archive.getnames()
    assert {"model.json", "model.pt", "sample-response.json", "tokenizer.json", "tokenizer_config.json"} <= set(names)


@pytest.mark.parametrize(
    ("changes", "function"),
    [
        ({}, "softmax"),
        ({"problem_type": "multi_label_classification"}, "sigmoid"),
        ({"problem_type": "regression"}, "none"),
        ({"id2label": {0: "relevance"}, "label2id": {"relevance": 0}}, "sigmoid"),
    ],
)
def test_the_function_is_the_pipelines(make, tmp_path, changes, function):
    model = task_models.save("text-classification", "bert", tmp_path / "model", **changes)
    assert make(model, tmp_path / "out")["parameters"] == {"function_to_apply": function}


@pytest.mark.parametrize("family", FAMILIES)
def test_vectors_are_those_of_sentence_transformers(make, saved, tmp_path, family):
    pytest.importorskip("sentence_transformers")
    request = {"inputs": [task_fixtures.SHORT, task_fixtures.LONG]}
    expected = task_fixtures.answer("sentence-embeddings", saved("sentence-embeddings", family), request)
    make(saved("sentence-embeddings", family), tmp_path / "out")
    served = json.loads((tmp_path / "out" / "sample-response.json").read_text(encoding="utf-8"))
    sample = json.loads((tmp_path / "out" / "sample.json").read_text(encoding="utf-8"))
    assert len(served) == len(expected[0])
    again = task_fixtures.answer("sentence-embeddings", saved("sentence-embeddings", family), sample)
    assert served == pytest.approx(again, abs=1e-4)


def test_an_encoder_without_modules_is_pooled_by_its_mean(make, tmp_path):
    model = task_models.save("sentence-embeddings", "bert", tmp_path / "model")
    (model / "modules.json").unlink()
    assert tasks.choose(str(model), None) is not tasks.TEXT_CLASSIFICATION
    description = make(model, tmp_path / "out", "--task", "sentence-embeddings")
    # The other files of sentence-transformers count without it too.
    assert description["maxSequenceLength"] == task_models.LONGEST - 8


@pytest.fixture
def embeddings(saved, tmp_path):
    """A copy that a test may spoil."""
    return shutil.copytree(saved("sentence-embeddings", "distilbert"), tmp_path / "model")


def test_modules_that_are_not_known_are_refused(refusal, embeddings):
    modules = [{"path": "", "type": "a.Transformer"}, {"path": "1_Router", "type": "a.Router"}]
    (embeddings / "modules.json").write_text(json.dumps(modules), encoding="utf-8")
    assert "modules.json: found Router, expected Transformer, Pooling" in refusal(embeddings)
    (embeddings / "modules.json").write_text(json.dumps(modules[:1]), encoding="utf-8")
    assert "modules.json: found no Pooling" in refusal(embeddings)


def test_pooling_that_is_not_known_is_refused(refusal, embeddings):
    (embeddings / "1_Pooling" / "config.json").write_text('{"pooling_mode": "median"}', encoding="utf-8")
    assert "1_Pooling/config.json: pooling_mode: found 'median'" in refusal(embeddings)


def write(directory, name, value):
    task_models.write_json(directory / name, value)


def test_lower_case_prompt_and_dimension_are_those_of_sentence_transformers(make, embeddings, tmp_path):
    sentence_transformers = pytest.importorskip("sentence_transformers")
    # Words in lower case only, and a tokenizer that does not make them so.
    stored = json.loads((embeddings / "tokenizer.json").read_text(encoding="utf-8"))
    stored["normalizer"] = {"type": "NFC"}
    write(embeddings, "tokenizer.json", stored)
    write(embeddings, "sentence_bert_config.json", {"max_seq_length": 40, "do_lower_case": True})
    prompts = {"prompts": {"query": "the "}, "default_prompt_name": "query", "truncate_dim": 4}
    write(embeddings, "config_sentence_transformers.json", prompts)
    description = make(embeddings, tmp_path / "out")
    assert description["parameters"] == {"prompt": "the ", "truncate_dim": 4}
    assert description["maxSequenceLength"] == 40
    written = json.loads((tmp_path / "out" / "tokenizer.json").read_text(encoding="utf-8"))
    assert written["normalizer"]["normalizers"] == [{"type": "Lowercase"}, {"type": "NFC"}]
    sample = json.loads((tmp_path / "out" / "sample.json").read_text(encoding="utf-8"))
    served = json.loads((tmp_path / "out" / "sample-response.json").read_text(encoding="utf-8"))
    model = sentence_transformers.SentenceTransformer(str(embeddings), device="cpu")
    assert served == pytest.approx(model.encode(sample["inputs"]).tolist(), abs=1e-4)


@pytest.mark.parametrize(
    ("file", "value", "message"),
    [
        ("modules.json", [{"type": "a.Transformer", "path": "0_BERT"}], "modules.json: path: found '0_BERT'"),
        ("modules.json", [{"type": "a.Pooling", "path": "9_Pooling"}], "9_Pooling/config.json: not found, and modules"),
        ("sentence_bert_config.json", {"transformer_task": "fill-mask"}, 'transformer_task: found "fill-mask", expected'),
        ("config_sentence_transformers.json", {"model_type": "SparseEncoder"}, 'model_type: found "SparseEncoder"'),
        ("config_sentence_transformers.json", {"default_prompt_name": "a"}, "default_prompt_name: found 'a', expected"),
        ("config_sentence_transformers.json", {"truncate_dim": 0}, "truncate_dim: found 0, expected a whole number"),
        ("2_Dense/config.json", {"use_residual": True}, "2_Dense/config.json: use_residual: found true, expected false"),
    ],
)
def test_values_that_would_give_other_vectors_are_refused(refusal, embeddings, file, value, message):
    write(embeddings, file, value)
    assert message in refusal(embeddings)


def test_other_keys_are_named(capsys, embeddings):
    write(embeddings, "sentence_bert_config.json", {"model_args": {"a": 1}, "max_seq_length": None})
    write(embeddings, "1_Pooling/config.json", {"pooling_mode": ["cls", "max", "mean"], "strange": 2})
    assert pooling.load(str(embeddings)).longest is None
    assert capsys.readouterr().err.splitlines() == [
        'warning: sentence_bert_config.json: model_args: found {"a": 1}, which is passed over',
        "warning: 1_Pooling/config.json: strange: found 2, which is passed over",
    ]


def test_a_prompt_that_is_not_pooled_is_refused(refusal, embeddings):
    write(embeddings, "1_Pooling/config.json", {"pooling_mode": "mean", "include_prompt": False})
    prompts = {"prompts": {"query": "the "}, "default_prompt_name": "query"}
    write(embeddings, "config_sentence_transformers.json", prompts)
    assert "1_Pooling/config.json: include_prompt: found false, expected true" in refusal(embeddings)


@pytest.mark.parametrize(
    ("config", "others", "longest"),
    [
        ({"max_position_embeddings": 512}, [1e30, None], 512),
        ({"max_position_embeddings": 512}, [100, 200], 100),
        ({"max_position_embeddings": -1, "n_positions": 8192}, [1000000000000000000000000000000, 8192], 8192),
        ({"max_position_embeddings": None}, [None, 700], 700),
    ],
)
def test_the_longest_row_is_the_least_that_a_file_says(config, others, longest):
    model = torch.nn.Linear(1, 1)
    model.config = types.SimpleNamespace(**config)
    assert longest_sequence(model, *others) == longest


def test_a_file_with_other_answers_is_refused(refusal, saved, monkeypatch):
    monkeypatch.setattr(asking, "alike", lambda one, other: False)
    assert "the pipeline answers" in refusal(saved("text-classification", "bert"))


def test_a_mask_of_four_dimensions_is_that_of_two():
    hidden = torch.ones(2, 3, 4)
    mask = torch.tensor([[1, 1, 0], [1, 1, 1]])
    expected = pooling.mask_of_tokens(hidden, mask)
    assert expected.shape == (2, 3, 1)
    four = mask.bool()[:, None, None]
    assert torch.equal(pooling.mask_of_tokens(hidden, four), expected)
    assert torch.equal(pooling.mask_of_tokens(hidden, four[:0]), torch.ones(2, 3, 1))
