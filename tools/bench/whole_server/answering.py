"""Question answering in Python, as a FastAPI server and as a bare loop have it: tokenise, forward, best span."""

from pathlib import Path
from typing import Any

import numpy
import torch
from tokenizers import Tokenizer

LONGEST_ANSWER = 15
LONGEST_INPUT = 512


class Answerer:
    """One traced model with its tokenizer.

    The model takes input_ids, attention_mask and token_type_ids, and returns the start and the end logits.
    """

    def __init__(self, model: Path, tokenizer: Path, threads: int, padded: bool = False) -> None:
        self.load(model, threads)
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        self.tokenizer.enable_truncation(LONGEST_INPUT, strategy="only_second")
        if padded:
            self.tokenizer.enable_padding(length=LONGEST_INPUT)
        else:
            self.tokenizer.no_padding()

    def load(self, model: Path, threads: int) -> None:
        torch.set_num_threads(threads)
        self.model = torch.jit.load(str(model)).eval()

    def forward(self, rows: list[list[int]]) -> tuple[numpy.ndarray, numpy.ndarray]:
        with torch.inference_mode():
            start, end = self.model(*(torch.tensor([row]) for row in rows))
        return start[0].numpy(), end[0].numpy()

    def answer(self, question: str, context: str) -> dict[str, Any]:
        encoding = self.tokenizer.encode(question, context)
        rows = [encoding.ids, encoding.attention_mask, encoding.type_ids]
        start, end = self.forward(rows)
        first = encoding.sequence_ids.index(1)
        last = first + encoding.sequence_ids.count(1)
        begin, stop, score = best_span(start[first:last], end[first:last])
        begin, stop = encoding.offsets[first + begin][0], encoding.offsets[first + stop][1]
        return {"answer": context[begin:stop], "score": score, "start": begin, "end": stop}


def best_span(start: numpy.ndarray, end: numpy.ndarray) -> tuple[int, int, float]:
    """The most likely first and last token, and their probability."""
    scores = numpy.outer(softmax(start), softmax(end))
    scores = numpy.tril(numpy.triu(scores), LONGEST_ANSWER - 1)
    best = int(scores.argmax())
    return best // len(end), best % len(end), float(scores.flat[best])


def softmax(logits: numpy.ndarray) -> numpy.ndarray:
    powers = numpy.exp(logits - logits.max())
    return powers / powers.sum()
