"""Finds answers as the server does, for the samples that trace.py writes.

Independent of the server, of transformers and of `pipeline.py`, which the tests compare it with: it uses only
tokenizers and torch.

The answers are those of the question-answering pipeline of transformers 4.53: the context is cut into overlapping
windows of tokens, each window gives its best spans by probabilities of its own, and spans of the same text are one
answer, whose scores are added.

`start` and `end` count Unicode code points.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import torch
from tokenizers import Encoding, Tokenizer

# Takes the inputs of one row, in the artifact's order, and returns its start and its end logits, each of shape [1, n].
Model = Callable[..., tuple[torch.Tensor, torch.Tensor]]

# The least tokens of a window of a context that has more.
LEAST_ROOM = 16
# The least by which a window moves on, but half of a small one.
LEAST_STEP = 16


@dataclass(frozen=True)
class Parameters:
    """The parameters of a request, with the pipeline's defaults."""

    top_k: int = 1
    doc_stride: int = 128
    own_stride: bool = False
    max_answer_len: int = 15
    max_seq_len: int = 384
    max_question_len: int = 64
    handle_impossible_answer: bool = False
    align_to_words: bool = True


class Candidate(NamedTuple):
    """A span of context tokens, `first` to `last`, in a window of the tokens from `begin` up to `stop`."""

    score: float
    first: int
    last: int
    begin: int
    stop: int


class Answering:
    """Answers questions with the tokenizer of an artifact, as its `model.json` describes it, and any model."""

    def __init__(self, description: dict, tokenizer: Tokenizer):
        self.inputs = description["inputs"]
        self.pair = description["pair"]
        self.defaults = description.get("parameters", {})
        self.longest_row = longest_row(description)
        self.tokenizer = tokenizer
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def parameters(self, chosen: dict) -> Parameters:
        """What a request chose, then the artifact's defaults, then the pipeline's; rows as long as the model takes."""
        parameters = Parameters(**(self.defaults | chosen))
        parameters = replace(parameters, max_seq_len=min(parameters.max_seq_len, self.longest_row))
        return replace(parameters, own_stride="doc_stride" in chosen or self.has_own_stride(parameters))

    def has_own_stride(self, parameters: Parameters) -> bool:
        """Whether the artifact's stride holds: it was chosen for the artifact's windows."""
        usual = min(Parameters(**self.defaults).max_seq_len, self.longest_row)
        return "doc_stride" in self.defaults and parameters.max_seq_len == usual

    def question_ids(self, question: str, parameters: Parameters) -> list[int]:
        return self.tokenizer.encode(question, add_special_tokens=False).ids[: parameters.max_question_len]

    def text(self, context: str, parameters: Parameters) -> "Text":
        return Text(context, self.tokenizer.encode(context, add_special_tokens=False), parameters.align_to_words)

    def best_answer(self, model: Model, question: str, context: str) -> dict:
        """What the server answers to a request of a question and a context alone."""
        answer = self.answers(model, question, context, {})[0]
        return answer | {"score": round(answer["score"], 6)}

    def answers(self, model: Model, question: str, context: str, chosen: dict) -> list[dict]:
        """The answers to a request with the parameters that it chose, best first."""
        parameters = self.parameters(chosen)
        text = self.text(context, parameters)
        impossible, candidates = self.candidates(model, self.question_ids(question, parameters), text.ids, parameters)
        answers = text.merged(candidates)
        if parameters.handle_impossible_answer:
            answers.append({"answer": "", "score": impossible, "start": 0, "end": 0})
        # The sort is stable, so that of equal scores the first found is the first, and no answer the last.
        answers.sort(key=lambda answer: -answer["score"])
        return answers[: parameters.top_k]

    def candidates(
        self, model: Model, question: list[int], context: list[int], parameters: Parameters
    ) -> tuple[float, list[Candidate]]:
        """The score of no answer, and the `top_k` best spans of each window, one window after another."""
        found = []
        impossible = 1.0
        room = self.room(question, len(context), parameters)
        for offset, window in windows(context, room, parameters):
            start, end = self.probabilities(model, question, window)
            impossible = min(impossible, start[0] * end[0])
            spans = []
            for first in range(len(window)):
                for last in range(first, min(first + parameters.max_answer_len, len(window))):
                    score = start[1 + first] * end[1 + last]
                    spans.append(Candidate(score, offset + first, offset + last, offset, offset + len(window)))
            # Of equal ones the smaller start and the smaller end, as the sort is stable.
            spans.sort(key=lambda span: -span.score)
            found += spans[: parameters.top_k]
        return impossible, found

    def room(self, question: list[int], context_length: int, parameters: Parameters) -> int:
        """The most tokens of a window. The server refuses what would take a forward for every few tokens."""
        special = sum(len(self.pair[place]) for place in ("before", "between", "after"))
        room = parameters.max_seq_len - special - len(question)
        least = min(LEAST_ROOM, context_length)
        if room < least:
            raise ValueError(
                f"max_seq_len: {parameters.max_seq_len} leaves {max(room, 0)} tokens for the context beside "
                f"{len(question)} question tokens and {special} special tokens, expected at least {least}"
            )
        return room

    def probabilities(
        self, model: Model, question: list[int], window: list[int]
    ) -> tuple[list[float], list[float]]:
        """Start and end probabilities: first that of the classification token, then the window's.

        The first is 0 where no such token stands in front. The logits are float32, the softmax over them is float64.
        """
        before, between, after = (self.pair[place] for place in ("before", "between", "after"))
        head = before + question + between
        ids = head + window + after
        types = [self.pair["questionType"]] * len(head) + [self.pair["contextType"]] * (len(ids) - len(head))
        row = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": types}
        with torch.inference_mode():
            logits = model(*(torch.tensor([row[name]]) for name in self.inputs))
        context = range(len(head), len(head) + len(window))
        start, end = (softmax_over(side[0].double(), context, bool(before)) for side in logits)
        return start, end


def longest_row(description: dict) -> int:
    """The most tokens of a row that the artifact has a shape for."""
    if description["shapes"] == "compiled":
        return max(file["sequence"] for file in description["files"])
    return description["maxSequenceLength"]


def softmax_over(logits: torch.Tensor, context: range, with_classification: bool) -> list[float]:
    """Probabilities of position 0, then of the context's positions; all other positions take no part."""
    chosen = logits[[0, *context]]
    if not with_classification:
        chosen[0] = -torch.inf
    return torch.softmax(chosen, dim=0).tolist()


def windows(context: list[int], room: int, parameters: Parameters):
    """Windows of at most `room` tokens with their offsets; neighbours share `doc_stride` tokens.

    The server refuses an own stride of more than `most`. A default one is less then, and half of `max_seq_len` at most.
    """
    most = max(room // 2, room - LEAST_STEP)
    stride = parameters.doc_stride if parameters.own_stride else min(parameters.doc_stride, parameters.max_seq_len // 2)
    if stride > most and parameters.own_stride and len(context) > room:
        raise ValueError(f"doc_stride: {stride} is more than {most}, of windows of {room} tokens")
    step = room - min(stride, most)
    offset = 0
    while True:
        yield offset, context[offset : offset + room]
        if offset + room >= len(context):
            return
        offset += step


class Text:
    """A context with its tokens, from which answers are cut."""

    def __init__(self, context: str, encoding: Encoding, align_to_words: bool):
        self.context = context
        # Each of these is copied out of the tokenizer on every access.
        self.ids, self.offsets, self.word_ids = encoding.ids, encoding.offsets, encoding.word_ids
        self.align_to_words = align_to_words

    def span(self, candidate: Candidate) -> tuple[int, int]:
        """The characters from `start` up to `end` that a candidate stands for. Words end where their window does."""
        first, last = candidate.first, candidate.last
        # A special token that is written out in the context belongs to no word.
        if self.align_to_words and self.word_ids[first] is not None and self.word_ids[last] is not None:
            while first > candidate.begin and self.word_ids[first - 1] == self.word_ids[first]:
                first -= 1
            while last + 1 < candidate.stop and self.word_ids[last + 1] == self.word_ids[last]:
                last += 1
        return self.offsets[first][0], self.offsets[last][1]

    def merged(self, candidates: list[Candidate]) -> list[dict]:
        """An answer for each text, ignoring case: where its first candidate stands, with the scores of all."""
        answers: dict[str, dict] = {}
        for candidate in candidates:
            start, end = self.span(candidate)
            text = self.context[start:end]
            answer = answers.setdefault(text.lower(), {"answer": text, "score": 0.0, "start": start, "end": end})
            answer["score"] += candidate.score
        return list(answers.values())
