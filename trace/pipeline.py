"""The question-answering pipeline of transformers 4.53, ported: the yardstick for Berth's answers and scores.

Independent of the server and of `answering.py`, which share nothing with it. It uses tokenizers, numpy and torch only:
transformers 5 has no such pipeline. It follows src/transformers/pipelines/question_answering.py of 4.53, for fast
tokenizers, and was compared with the pipeline of 4.57.6 itself, on tokenizers 0.22.2.

What decides scores there:

- The context's tokens and the classification token take part in the softmax of each window. All others don't. The
  classification token takes part even if `handle_impossible_answer` is false: then only its answer is left out.
- "No answer" scores the smallest p_start · p_end of position 0 over the windows. It comes last among equals.
- Each window gives its `top_k` best spans of tokens. Answers of the same text, ignoring case, are then one answer, also
  across windows. Their scores are added, so a sum may be more than 1. The position and the spelling are those of the
  first, in the order of the windows and then of the scores.
- `align_to_words` widens a span to whole words, as far as they stand in the window.
- Windows share `doc_stride` tokens: 128 by default, and at most half of `max_seq_len`.

From 4.54 on a window gives 2 · `top_k` + 10 spans if `align_to_words` is set (`spans_of_4_54`): a list has fewer answers
than asked for less often, and scores of answers that many spans make are higher.

The port differs from the source in this:

- The pipeline ignores `max_question_len` if the tokenizer is a fast one. This does what it documents, and what it does
  with a slow one: it cuts the question.
- If a window has fewer spans than `top_k`, the pipeline adds spans that score 0: the classification token, or one that
  ends before it starts. This leaves them out.
- Spans of equal scores come in any order there. Here the one that starts, and then ends, earlier is the first.
- It returns a list, also of one answer.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import torch
from tokenizers import Encoding, Tokenizer

# Takes the inputs of one row, in the artifact's order, and returns its start and its end logits, each of shape [1, n].
Model = Callable[..., tuple[torch.Tensor, torch.Tensor]]


def spans_of_4_53(top_k: int, align_to_words: bool) -> int:
    """How many spans a window gives."""
    return top_k


def spans_of_4_54(top_k: int, align_to_words: bool) -> int:
    """The same in 4.54 to 4.57."""
    return 2 * top_k + 10 if align_to_words else top_k


class Found(NamedTuple):
    """A span of a window, as characters of the context."""

    score: float
    start: int
    end: int


class Pipeline:
    """Answers questions with any model, the tokenizer of an artifact, and what its `model.json` says of rows."""

    def __init__(self, description: dict, tokenizer: Tokenizer, model: Model, spans_of_a_window=spans_of_4_53):
        self.inputs = description["inputs"]
        # A pair in tokenizer.json begins with the classification token, if there is one.
        self.classification = next(iter(description["pair"]["before"]), None)
        self.question_type = description["pair"]["questionType"]
        self.context_type = description["pair"]["contextType"]
        self.model_max_length = description["maxSequenceLength"]
        self.tokenizer = tokenizer
        self.model = model
        self.spans_of_a_window = spans_of_a_window

    def __call__(self, question: str, context: str, top_k: int = 1, **parameters) -> list[dict]:
        return self.all_answers(question, context, top_k, **parameters)[:top_k]

    def all_answers(
        self,
        question: str,
        context: str,
        top_k: int = 1,
        handle_impossible_answer: bool = False,
        align_to_words: bool = True,
        **parameters,
    ) -> list[dict]:
        """The answers that compete, best first: more than `top_k` where windows have found different ones."""
        count = self.spans_of_a_window(top_k, align_to_words)
        no_answer, spans = self.search(question, context, count, align_to_words=align_to_words, **parameters)
        answers: dict[str, dict] = {}
        for score, start, end in spans:
            text = context[start:end]
            answer = answers.setdefault(text.lower(), {"answer": text, "score": 0.0, "start": start, "end": end})
            answer["score"] += score
        competing = list(answers.values())
        if handle_impossible_answer:
            competing.append({"answer": "", "score": no_answer, "start": 0, "end": 0})
        # The sort is stable: of equal scores the one found first comes first.
        return sorted(competing, key=lambda answer: -answer["score"])

    def search(
        self,
        question: str,
        context: str,
        count: int,
        doc_stride: int | None = None,
        max_answer_len: int = 15,
        max_seq_len: int | None = None,
        max_question_len: int = 64,
        align_to_words: bool = True,
    ) -> tuple[float, list[Found]]:
        """The score of no answer, and up to `count` spans of each window, best first: one window after another."""
        no_answer = 1_000_000.0
        spans = []
        for window in self.windows(self.cut(question, max_question_len), context, max_seq_len, doc_stride):
            start, end, spannable = self.probabilities(window)
            no_answer = min(no_answer, float(start[0] * end[0]))
            spannable[0] = False
            for first, last, score in best_spans(start, end, spannable, count, max_answer_len):
                spans.append(Found(score, *characters(window, first, last, align_to_words)))
        return no_answer, spans

    def cut(self, question: str, most: int) -> str:
        """The question up to the end of its `most`-th token."""
        self.tokenizer.no_truncation()
        whole = self.tokenizer.encode(question, add_special_tokens=False)
        if len(whole) <= most:
            return question
        shorter = question[: whole.offsets[most - 1][1]]
        found = self.tokenizer.encode(shorter, add_special_tokens=False).ids
        if found != whole.ids[:most]:
            raise ValueError(f"question: cut to {shorter!r} it has the tokens {found}, expected {whole.ids[:most]}")
        return shorter

    def windows(self, question: str, context: str, longest: int | None, stride: int | None) -> list[Encoding]:
        longest = longest or min(self.model_max_length, 384)
        stride = min(longest // 2, 128) if stride is None else stride
        # Not by `encode`: tokenizers 0.23 drops there what the further windows are made of (its issue 2091).
        pair = [self.tokenizer.encode(text, add_special_tokens=False) for text in (question, context)]
        self.tokenizer.enable_truncation(longest, stride=stride, strategy="only_second")
        encoding = self.tokenizer.post_process(*pair)
        self.tokenizer.no_truncation()
        return [encoding, *encoding.overflowing]

    def probabilities(self, window: Encoding) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Start and end probabilities of a row's tokens, in float32, and which of them are more than 0."""
        row = {"input_ids": window.ids, "attention_mask": window.attention_mask, "token_type_ids": self.types(window)}
        with torch.inference_mode():
            logits = self.model(*(torch.tensor([row[name]]) for name in self.inputs))
        taking_part = np.array([sequence == 1 for sequence in window.sequence_ids])
        if self.classification is not None:
            taking_part |= np.array(window.ids) == self.classification
        start, end = (softmax(np.where(taking_part, side[0].numpy(), np.float32(-10_000))) for side in logits)
        return start, end, taking_part

    def types(self, window: Encoding) -> list[int]:
        """The token types; `post_process` gives them to the first window only."""
        head = window.sequence_ids.index(1)
        return [self.question_type] * head + [self.context_type] * (len(window) - head)


def softmax(logits: np.ndarray) -> np.ndarray:
    exponentials = np.exp(logits - logits.max())
    return exponentials / exponentials.sum()


def best_spans(
    start: np.ndarray, end: np.ndarray, spannable: np.ndarray, count: int, max_answer_len: int
) -> list[tuple[int, int, float]]:
    """Up to `count` spans of tokens, both ends inclusive, with their scores; best first, then by position."""
    allowed = np.tril(np.triu(np.outer(spannable, spannable)), max_answer_len - 1)
    firsts, lasts = np.nonzero(allowed)
    scores = start[firsts] * end[lasts]
    best = np.argsort(-scores, kind="stable")[:count]
    return [(int(firsts[i]), int(lasts[i]), float(scores[i])) for i in best]


def characters(window: Encoding, first: int, last: int, align_to_words: bool) -> tuple[int, int]:
    """The characters of the context from the start of `first` to the end of `last`, or of the words that hold them."""
    words = window.token_to_word(first), window.token_to_word(last)
    # A special token that is written out in the context is of no word.
    if align_to_words and None not in words:
        return window.word_to_chars(words[0], 1)[0], window.word_to_chars(words[1], 1)[1]
    return window.offsets[first][0], window.offsets[last][1]
