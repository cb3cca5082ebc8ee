"""Asks a model the same questions in fp32 and at a lower precision: how many answers stay the same.

verification.py compares a file with the model that it was traced from. This compares that model with the fp32 one,
and so measures what rounding costs in answers.
"""

from typing import NamedTuple

import torch

import verification
from answering import Answering, Model
from pictures import Pictures
from progress import each
from refused import Refused, last_line
from subject import Subject
from tasks import EMBEDDINGS, QUESTION_ANSWERING

# How many passages a context has.
PASSAGES = [1, 3, 8]

# minilm-qa gives 92 % of its answers in int8, and all of them in bf16. In torch's own int8, which loses 2 points of F1
# on SQuAD, it gives 88 % of the English and 73 % of the Japanese ones.
GOOD = 0.9
LEAST = 0.8

# Texts that mean the same are rarely nearer to each other than this.
SAME_VECTOR = 0.98

# What the pipelines make of logits.
SCORES = {"softmax": lambda logits: logits.softmax(-1), "sigmoid": torch.sigmoid, "none": lambda logits: logits}

# Of a model of few positions half of them: it gets the beginning of a longer question.
LONGEST_QUESTION = 64


class Agreement(NamedTuple):
    """How many questions two models answer with the same words of the context.

    `largest_score_difference` is that of the best answers to a question, whether or not they are the same.
    """

    questions: int
    same_answers: int
    largest_score_difference: float

    @classmethod
    def of(cls, answers: list[dict], others: list[dict]) -> "Agreement":
        pairs = list(zip(answers, others, strict=True))
        same = sum((one["start"], one["end"]) == (other["start"], other["end"]) for one, other in pairs)
        return cls(len(pairs), same, round(max(abs(one["score"] - other["score"]) for one, other in pairs), 6))

    @property
    def share(self) -> float:
        return self.same_answers / self.questions

    def described(self) -> dict:
        """What model.json says."""
        return {
            "questions": self.questions,
            "sameAnswers": self.same_answers,
            "largestScoreDifference": self.largest_score_difference,
        }

    def __str__(self) -> str:
        return (
            f"the same best answer to {self.same_answers} of {self.questions} questions ({self.share:.1%}), "
            f"scores at most {self.largest_score_difference:.2g} apart"
        )


def measure(subject: Subject | Pictures, precision: str) -> Agreement:
    """Compares the untraced models on the CPU, row by row, as int8 is served."""
    if subject.task is not QUESTION_ANSWERING:
        return measure_others(subject, precision)
    answering = Answering(subject.rows(), subject.tokenizer)
    answering.defaults = answering.defaults | {"max_question_len": min(LONGEST_QUESTION, subject.longest // 2)}
    asked = questions(subject.language.facts, subject.language.separator)
    threads = torch.get_num_threads()
    # One sum, one order: the figure stands in model.json, which is the same each time.
    torch.set_num_threads(1)
    try:
        exact, lower = (answers(answering, subject.module(name), asked) for name in ("fp32", precision))
        return Agreement.of(exact, lower)
    except ValueError as error:
        raise Refused(f"the questions for comparing precisions do not fit the model: {last_line(error)}") from error
    finally:
        torch.set_num_threads(threads)


def measure_others(subject: Subject | Pictures, precision: str) -> Agreement:
    """The same for the other tasks, with texts or pictures.

    Vectors are the same where the cosine of their angle is SAME_VECTOR; what their scores are apart is the rest to 1.
    """
    exact, lower = subject.module("fp32"), subject.module(precision)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    try:
        rows = [
            (verification.run(exact, inputs), verification.run(lower, inputs))
            for inputs in each(subject.compared(), "ask")
        ]
    finally:
        torch.set_num_threads(threads)
    if subject.task in EMBEDDINGS:
        apart = [
            1 - torch.nn.functional.cosine_similarity(one.double(), other.double()).item() for one, other in rows
        ]
        # Rounding makes a little less than 0 of equal ones.
        return Agreement(len(rows), sum(one <= 1 - SAME_VECTOR for one in apart), round(min(max(apart + [0.0]), 1), 6))
    function = subject.rows().get("parameters", {}).get("function_to_apply", "softmax")
    scores = SCORES[function]
    difference = max((scores(one) - scores(other)).abs().max().item() for one, other in rows)
    return Agreement(len(rows), same_classes(rows, function), round(difference, 6))


def same_classes(rows: list[tuple[torch.Tensor, torch.Tensor]], function: str) -> int:
    """How many rows have the same best class, and where labels do not exclude each other the same likely ones.

    The only class of a model is always the best, so its logits must be near to each other, measured by how far apart
    those of different rows are.
    """
    if verification.has_one_class(rows[0][0]):
        numbers = torch.cat([one for one, _ in rows])
        near = verification.SAME_NUMBER * (numbers.max() - numbers.min())
        return sum(bool((one - other).abs() <= near) for one, other in rows)
    return sum(
        verification.same_rows(one, other) and (function != "sigmoid" or torch.equal(one > 0, other > 0))
        for one, other in rows
    )


def answers(answering: Answering, model: Model, asked: list[tuple[str, str]]) -> list[dict]:
    """The best answer to each question; logits that are no numbers have none and are refused."""
    return [
        answering.best_answer(lambda *row: verification.run(model, row).unbind(1), question, context)
        for question, context in each(asked, "ask")
    ]


def questions(facts: list[tuple[str, str]], separator: str) -> list[tuple[str, str]]:
    """Each question with its own passage alone, and with that passage among others, at another place each time."""
    asked = []
    for count in PASSAGES:
        for number, (question, _) in enumerate(facts):
            first = number - number % count
            passages = [facts[(first + place) % len(facts)][1] for place in range(count)]
            asked.append((question, separator.join(passages)))
    return asked
