"""Measures how well models answer: F1 and exact match on questions with known answers, and how far models agree.

    python trace/evaluate.py --questions dev.jsonl --model PATH/minilm-qa --model model-artifact

Each `--model` is an artifact, or a question-answering model of Hugging Face, which answers in fp32. Those after the
first are also compared with the first. Each line of the questions is an object with `question`, `context` and
`answers`, a list of texts of which each is right.

F1 and exact match are SQuAD's: of lower case, without punctuation, articles and extra blanks, the best of the answers.
"""

import argparse
import json
import re
import string
import sys
from collections import Counter
from pathlib import Path

import torch
from tokenizers import Tokenizer

import agreement
import artifact
import onnx_format
from agreement import Agreement
from answering import Answering, Model
from refused import Refused
from subject import load_subject
from trace import silence_expected_warnings


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure F1, exact match and agreement of question-answering models.")
    parser.add_argument("--questions", required=True, type=Path, help="JSON Lines of question, context and answers")
    parser.add_argument("--model", required=True, action="append", help="an artifact, or a model ID or directory")
    arguments = parser.parse_args()
    silence_expected_warnings()
    torch.set_num_threads(1)
    try:
        asked = read_questions(arguments.questions)
        first = None
        for model in arguments.model:
            found = answers(model, asked)
            print(f"{model}: {quality(asked, found)}", flush=True)
            if first is None:
                first = found
            else:
                print(f"{model}: {Agreement.of(first, found)}, compared with {arguments.model[0]}", flush=True)
    except Refused as refusal:
        sys.exit(f"error: {refusal}")


def read_questions(file: Path) -> list[dict]:
    asked = []
    try:
        lines = file.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise Refused(f"--questions {file}: {error}") from error
    for number, line in enumerate(lines, start=1):
        try:
            one = json.loads(line)
        except ValueError as error:
            raise Refused(f"--questions {file}: line {number}: {error}") from error
        if not is_question(one):
            raise Refused(
                f"--questions {file}: line {number}: expected an object of the texts question and context, "
                "and a list of texts answers"
            )
        asked.append(one)
    if not asked:
        raise Refused(f"--questions {file}: found no line")
    return asked


def is_question(one) -> bool:
    return (
        isinstance(one, dict)
        and all(isinstance(one.get(name), str) for name in ("question", "context"))
        and isinstance(one.get("answers"), list)
        and bool(one["answers"])
        and all(isinstance(answer, str) for answer in one["answers"])
    )


def answers(name: str, asked: list[dict]) -> list[dict]:
    """The best answer to each question."""
    answering, model = open_model(name)
    return agreement.answers(answering, model, [(one["question"], one["context"]) for one in asked])


def open_model(name: str) -> tuple[Answering, Model]:
    directory = Path(name)
    if (directory / artifact.MODEL_JSON).is_file():
        description = json.loads((directory / artifact.MODEL_JSON).read_text(encoding="utf-8"))
        if description["shapes"] == "compiled":
            raise Refused(f"--model {name}: holds compiled shapes, expected an artifact for cpu or gpu")
        tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        file = directory / description["files"][0]["path"]
        answering = Answering(description, tokenizer)
        if file.name == onnx_format.FILE:
            return answering, onnx_format.Loaded(file.read_bytes(), answering.inputs)
        return answering, torch.jit.load(str(file))
    subject = load_subject(name, None)
    return Answering(subject.rows(), subject.tokenizer), subject.module("fp32")


def quality(asked: list[dict], found: list[dict]) -> str:
    pairs = list(zip(asked, found, strict=True))
    f1 = sum(max(f1_score(one["answer"], right) for right in question["answers"]) for question, one in pairs)
    exact = sum(any(words(one["answer"]) == words(right) for right in question["answers"]) for question, one in pairs)
    return f"F1 {100 * f1 / len(pairs):.1f}, exact match {100 * exact / len(pairs):.1f} of {len(pairs)} questions"


def f1_score(found: str, right: str) -> float:
    one, other = words(found), words(right)
    common = sum((Counter(one) & Counter(other)).values())
    if not one or not other:
        return float(one == other)
    return 2 * common / (len(one) + len(other))


def words(text: str) -> list[str]:
    without_punctuation = "".join(letter for letter in text.lower() if letter not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", without_punctuation).split()


if __name__ == "__main__":
    main()
