"""Compares tiny models' answers at several precisions; needs no network."""

import json
import shutil
import subprocess
import sys

import pytest
import torch
import transformers

import agreement
import evaluate
import tiny_models
from agreement import Agreement
from examples import ENGLISH, JAPANESE
from model import at_precision, load_model

QUESTION = "Where was Marie Curie born?"
CONTEXT = "Marie Curie was born in Warsaw."


@pytest.fixture(scope="module")
def random_model(tmp_path_factory):
    return tiny_models.save("distilbert", tmp_path_factory.mktemp("models") / "tiny-distilbert")


@pytest.fixture(scope="module")
def decided_model(tmp_path_factory):
    """A model whose answers depend on the token alone, as its layers add next to nothing: rounding changes none."""
    directory = tiny_models.save("bert", tmp_path_factory.mktemp("models") / "decided-bert")
    model = transformers.BertForQuestionAnswering.from_pretrained(directory)
    for layer in model.bert.encoder.layer:
        for output in (layer.attention.output.dense, layer.output.dense):
            output.weight.data.mul_(1e-3)
    model.qa_outputs.weight.data.mul_(5)
    model.save_pretrained(directory)
    return directory


def test_questions_are_many_and_hold_their_answer():
    for language in (ENGLISH, JAPANESE):
        asked = agreement.questions(language.facts, language.separator)
        assert len(asked) == len(set(asked)) >= 100
        passages = dict(language.facts)
        assert all(passages[question] in context for question, context in asked)
        assert len({context.index(passages[question]) for question, context in asked}) > 20


def test_the_same_words_elsewhere_are_another_answer():
    one = {"answer": "Rome", "score": 0.75, "start": 0, "end": 4}
    assert Agreement.of([one, one], [one, one | {"start": 9, "end": 13, "score": 0.5}]) == Agreement(2, 1, 0.25)


def test_int8_is_the_default_of_a_cpu_where_it_answers_as_fp32(trace, decided_model, tmp_path, capsys):
    description = trace(decided_model, tmp_path / "out")
    assert description["precision"] == "int8"
    figures = description["agreement"]
    assert figures["questions"] == 120
    assert figures["sameAnswers"] >= 0.9 * 120
    assert 0 < figures["largestScoreDifference"] < 1
    captured = capsys.readouterr()
    assert f"int8 and fp32: the same best answer to {figures['sameAnswers']} of 120" in captured.out
    assert captured.err.endswith("from those in fp32; --precision fp32 keeps them\n")


def test_fp32_is_the_default_of_a_cpu_where_int8_answers_otherwise(trace, random_model, tmp_path, capsys):
    description = trace(random_model, tmp_path / "out")
    assert description["precision"] == "fp32"
    assert "agreement" not in description
    captured = capsys.readouterr()
    assert "precision: fp32, slower than int8, which gives its answers to less than 90%" in captured.out
    assert "warning" not in captured.err


def test_a_precision_that_answers_otherwise_is_refused(refusal, random_model):
    line = refusal(random_model, "--precision", "int8")
    assert line.startswith("error: --precision int8: gives the answers of fp32 to ")
    assert "of 120 questions, expected at least 80.0%; use fp32, or --min-agreement to take it" in line


def test_a_precision_that_answers_otherwise_can_be_asked_for(make, random_model, tmp_path, capsys):
    description = make(random_model, tmp_path / "out", "--precision", "int8", "--min-agreement", "0")
    assert description["precision"] == "int8"
    assert description["agreement"]["sameAnswers"] < 0.8 * 120
    assert "warning: --precision int8: gives the answers of fp32 to " in capsys.readouterr().err


def test_a_higher_least_agreement_holds(refusal, trace, decided_model, monkeypatch, tmp_path):
    monkeypatch.setattr(agreement, "measure", lambda *_: Agreement(120, 114, 0.1))
    assert "to 95.0% of 120 questions, expected at least 99.0%" in refusal(
        decided_model, "--precision", "int8", "--min-agreement", "0.99"
    )
    assert trace(decided_model, tmp_path / "out", "--min-agreement", "0.99")["precision"] == "fp32"


def test_questions_that_do_not_fit_the_model_are_refused(refusal, random_model, tmp_path):
    short = shutil.copytree(random_model, tmp_path / "short")
    config = transformers.DistilBertConfig.from_pretrained(random_model, max_position_embeddings=32)
    tiny_models.save_model(config, short)
    line = refusal(short, "--precision", "int8")
    assert line.startswith("error: the questions for comparing precisions do not fit the model: max_seq_len: 32 leaves")


def test_int8_weights_leave_room_for_activations_of_8_bits(decided_model):
    """AVX2 adds two products in 16 bits; FBGEMM takes its instructions from the environment. `ATEN_CPU_CAPABILITY`
    chooses PyTorch's own kernels only."""
    program = (
        "import torch, quantisation\n"
        "layer = torch.nn.Linear(384, 64, bias=False).requires_grad_(False)\n"
        "layer.weight.fill_(1.0)\n"
        "layer.weight[::2] = -1.0\n"
        "inputs = torch.ones(4, 384)\n"
        "inputs[0, 0] = 0.0\n"
        "model = torch.nn.Module()\n"
        "model.words, model.layer = torch.nn.Embedding(4, 8), layer\n"
        "model.get_input_embeddings = lambda: model.words\n"
        "found = quantisation.quantise(model).layer(inputs)\n"
        "print(((found - layer(inputs)).abs() / 384).max().item())\n"
    )
    limits = {"FBGEMM_ENABLE_INSTRUCTIONS": "AVX2", "ATEN_CPU_CAPABILITY": "avx2"}
    for environment in ({}, limits):
        difference = subprocess.run(
            [sys.executable, "-W", "ignore", "-c", program],
            cwd=agreement.__file__.rsplit("/", 1)[0],
            env={"PATH": "/usr/bin", **environment},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert float(difference) < 0.01
    quantised = at_precision(load_model(str(decided_model)), "int8")
    layers = [module for module in quantised.modules() if type(module).__name__ == "Linear" and callable(module.weight)]
    assert len(layers) == 12
    assert all(layer.weight().int_repr().abs().max() <= 64 for layer in layers)


def test_activations_of_int8_have_8_bits():
    layer = torch.nn.Linear(1, 1, bias=False).requires_grad_(False)
    layer.weight.fill_(1.0)
    model = torch.nn.Module()
    model.words, model.layer = torch.nn.Embedding(4, 8), layer
    model.get_input_embeddings = lambda: model.words
    steps = at_precision(model, "int8").layer(torch.linspace(0, 1, 1000)[:, None]).unique()
    assert len(steps) == 256


def write_questions(file, *lines):
    file.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    return file


def run_evaluate(monkeypatch, *arguments):
    monkeypatch.setattr(sys, "argv", ["evaluate.py", *map(str, arguments)])
    evaluate.main()


def test_models_are_evaluated_and_compared(make, monkeypatch, capsys, decided_model, tmp_path):
    make(decided_model, tmp_path / "out")
    best = json.loads((tmp_path / "out" / "sample-response.json").read_text(encoding="utf-8"))["answer"]
    questions = write_questions(
        tmp_path / "questions.jsonl",
        ENGLISH.sample | {"answers": ["nothing of it", f"The {best.upper()}!"]},
        ENGLISH.sample | {"answers": ["nothing of it"]},
    )
    capsys.readouterr()
    run_evaluate(monkeypatch, "--questions", questions, "--model", decided_model, "--model", tmp_path / "out")
    lines = capsys.readouterr().out.splitlines()
    assert lines == [
        f"{decided_model}: F1 50.0, exact match 50.0 of 2 questions",
        f"{tmp_path / 'out'}: F1 50.0, exact match 50.0 of 2 questions",
        f"{tmp_path / 'out'}: the same best answer to 2 of 2 questions (100.0%), scores at most 0 apart, "
        f"compared with {decided_model}",
    ]


def test_an_onnx_artifact_is_evaluated(make, monkeypatch, capsys, decided_model, tmp_path):
    pytest.importorskip("onnxruntime")
    make(decided_model, tmp_path / "out", "--format", "onnx")
    best = json.loads((tmp_path / "out" / "sample-response.json").read_text(encoding="utf-8"))["answer"]
    questions = write_questions(tmp_path / "questions.jsonl", ENGLISH.sample | {"answers": [best]})
    capsys.readouterr()
    run_evaluate(monkeypatch, "--questions", questions, "--model", tmp_path / "out")
    assert capsys.readouterr().out == f"{tmp_path / 'out'}: F1 100.0, exact match 100.0 of 1 questions\n"


@pytest.mark.parametrize(
    ("found", "right", "score"),
    [
        ("the red Fox.", "Red fox", 1.0),
        ("a red fox", "fox", 2 / 3),
        ("red red fox", "red", 0.5),
        ("dog", "fox", 0.0),
        ("the", "a", 1.0),
        ("the", "fox", 0.0),
    ],
)
def test_f1_is_that_of_squad(found, right, score):
    assert evaluate.f1_score(found, right) == pytest.approx(score)


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "found no line"),
        ("{\n", "line 1: Expecting property name"),
        ('{"question": "Who?", "context": "Bob."}\n', "line 1: expected an object of the texts question and context"),
        ('{"question": "Who?", "context": "Bob.", "answers": []}\n', "and a list of texts answers"),
        ("[]\n", "line 1: expected an object"),
    ],
)
def test_questions_that_cannot_be_evaluated_are_refused(monkeypatch, tmp_path, content, reason):
    (tmp_path / "questions.jsonl").write_text(content, encoding="utf-8")
    with pytest.raises(SystemExit, match=reason):
        run_evaluate(monkeypatch, "--questions", tmp_path / "questions.jsonl", "--model", "any")


def test_a_file_of_questions_that_is_not_there_is_refused(monkeypatch, tmp_path):
    with pytest.raises(SystemExit, match="error: --questions .*nowhere.jsonl: .*No such file"):
        run_evaluate(monkeypatch, "--questions", tmp_path / "nowhere.jsonl", "--model", "any")


def test_compiled_artifacts_are_not_evaluated(monkeypatch, tmp_path):
    questions = write_questions(tmp_path / "questions.jsonl", ENGLISH.sample | {"answers": ["Warsaw"]})
    (tmp_path / "model.json").write_text('{"shapes": "compiled"}', encoding="utf-8")
    with pytest.raises(SystemExit, match="holds compiled shapes, expected an artifact for cpu or gpu"):
        run_evaluate(monkeypatch, "--questions", questions, "--model", tmp_path)
