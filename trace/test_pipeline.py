"""Compares what the samples are made with to the port of the pipeline, and what the port says to known answers."""

import json
from pathlib import Path

import pytest
import torch
from tokenizers import Tokenizer

from answering import Answering
from pipeline import Pipeline, spans_of_4_54
from reference import Reference, expand, read_lines

ROOT = Path(__file__).resolve().parent.parent
ARTIFACT = ROOT / "model-artifact"
WAVES = ROOT / "src/test/resources/torchscript/waves.pt"
EXACT = ROOT / "src/test/resources/reference/question-answering-exact.jsonl.gz"

CURIE = "Marie Curie was born in Warsaw. She discovered radium and polonium in Paris."


@pytest.fixture(scope="module")
def description():
    return json.loads((ARTIFACT / "model.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def tokenizer():
    return Tokenizer.from_file(str(ARTIFACT / "tokenizer.json"))


def without_score(answer):
    return answer | {"score": None}


def test_answers_are_those_of_the_port_on_hundreds_of_requests(description, tokenizer):
    model = torch.jit.load(str(WAVES))
    answering = Answering(description, tokenizer)
    lines = read_lines(EXACT)
    assert len(lines) >= 200
    for line in lines:
        found = answering.answers(model, line["question"], expand(line["context"]), line.get("parameters", {}))
        expected = line["answers"]
        assert list(map(without_score, found)) == list(map(without_score, expected)), line["name"]
        assert [answer["score"] for answer in found] == pytest.approx(
            [answer["score"] for answer in expected], abs=1e-5, rel=1e-4
        ), line["name"]


def test_the_reference_of_the_java_tests_is_what_the_port_answers():
    reference = Reference(ARTIFACT, WAVES)
    for line in read_lines(EXACT)[::20]:
        found = reference.answer(line["question"], expand(line["context"]), line.get("parameters", {}))
        assert line == line | found


def squad_2(logits, classification):
    """A model that gives these logits to the places where the tokens stand, and another to the first."""

    def model(input_ids, attention_mask, token_type_ids):
        side = torch.zeros(1, input_ids.shape[1])
        side[0, 0] = classification
        for place, logit in logits.items():
            side[0, place] = logit
        return side, side.clone()

    return model


def test_the_classification_token_takes_part_also_where_no_answer_is_not_asked_for(description, tokenizer):
    question = "What is the capital of Peru?"
    place = tokenizer.encode(question, CURIE).tokens.index("warsaw")
    sure = Pipeline(description, tokenizer, squad_2({place: 5}, -20))(question, CURIE)
    unsure = Pipeline(description, tokenizer, squad_2({place: 5}, 15))(question, CURIE)
    assert sure[0]["answer"] == unsure[0]["answer"] == "Warsaw"
    assert sure[0]["score"] > 0.8
    assert unsure[0]["score"] < 1e-8
    assert Answering(description, tokenizer).answers(squad_2({place: 5}, 15), question, CURIE, {})[0][
        "score"
    ] == pytest.approx(unsure[0]["score"], rel=1e-4)


def test_equal_texts_are_one_answer(description, tokenizer):
    question, context = "Where?", "Oslo, OSLO, Rome."
    tokens = tokenizer.encode(question, context).tokens
    places = [place for place, token in enumerate(tokens) if token == "oslo"]
    model = squad_2(dict(zip(places, (4.0, 4.1), strict=True)), 0)
    best, *others = Pipeline(description, tokenizer, model)(question, context, top_k=3, max_answer_len=1)
    assert (best["answer"], best["start"]) == ("OSLO", 6)
    assert best["score"] > 0.4
    assert [answer["answer"].lower() for answer in others].count("oslo") == 0


def test_a_window_gives_more_spans_from_4_54_on():
    assert spans_of_4_54(5, True) == 20
    assert spans_of_4_54(5, False) == 5
