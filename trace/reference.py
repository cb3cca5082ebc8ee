"""Computes the reference answers that the Java server is tested against.

Independent of the server and of transformers: it uses only tokenizers and torch, on the same artifact.

    python trace/reference.py --artifact model-artifact --questions trace/questions.jsonl \\
        --output src/test/resources/reference/question-answering.jsonl
    python trace/reference.py --model src/test/resources/torchscript/waves.pt \\
        --output src/test/resources/reference/question-answering-exact.jsonl

The second one replaces the artifact's model by one that computes the same everywhere, for a strict comparison.

Each line of the questions, and of the output, holds one request. Its context is a string, or a list whose items are
strings and {"repeat": text, "times": n}: joined, they are the context. That keeps contexts of 50,000 characters small.

The answers are those of the question-answering pipeline of transformers 4: the context is cut into overlapping windows
of tokens, each window gives probabilities of its own, and the spans of all windows compete in one list.

`start` and `end` count Unicode code points.

int8 is not the same everywhere. Another CPU or another torch rounds a last bit differently, that moves an activation to
the neighbouring one of its 127 steps, and scores that were not near 0 or 1 move visibly. Each line says how much to
expect. `drift` is the largest change of a reported score over runs with weights disturbed in their last bits: compare
scores within 1e-3 + 2 · drift. `margin` is the distance from a reported answer to the next best that is a different
span: where it is below 2 · drift, the order is a matter of luck. The tool names such cases, so that they are reworded.
"""

import argparse
import json
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

import torch
from tokenizers import Encoding, Tokenizer

DISTURBED_RUNS = 16


@dataclass(frozen=True)
class Parameters:
    """The parameters of a request, with their defaults."""

    top_k: int = 1
    doc_stride: int = 128
    max_answer_len: int = 15
    max_seq_len: int = 384
    max_question_len: int = 64
    handle_impossible_answer: bool = False
    align_to_words: bool = True


class Candidate(NamedTuple):
    """A span of context tokens, `first` to `last`; None for both is the empty answer."""

    score: float
    first: int | None
    last: int | None


class Reference:
    """Answers questions with the artifact in a directory."""

    def __init__(self, artifact: Path, model: Path | None):
        description = json.loads((artifact / "model.json").read_text(encoding="utf-8"))
        self.inputs = description["inputs"]
        self.pair = description["pair"]
        file = str(model or artifact / description["files"][0]["path"])
        self.model = torch.jit.load(file)
        self.disturbed = [disturb(torch.jit.load(file), seed) for seed in range(DISTURBED_RUNS)]
        self.tokenizer = Tokenizer.from_file(str(artifact / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()

    def answer(self, question: str, context: str, parameters: Parameters) -> dict:
        """The answers, best first, with the drift and the margin of their scores."""
        text = Text(context, self.tokenizer.encode(context, add_special_tokens=False), parameters.align_to_words)
        question_ids = self.tokenizer.encode(question, add_special_tokens=False).ids[: parameters.max_question_len]
        candidates = self.candidates(question_ids, text.ids, parameters)
        best = candidates[: parameters.top_k]
        return {
            "answers": [text.answer(candidate) for candidate in best],
            "drift": round(self.drift(best, question_ids, text.ids, parameters), 6),
            "margin": round(margin(candidates, parameters.top_k, text), 6),
        }

    def drift(
        self, best: list[Candidate], question: list[int], context: list[int], parameters: Parameters
    ) -> float:
        """The largest change of the best candidates' scores when the weights are disturbed in their last bits."""
        changes = [0.0]
        for model in self.disturbed:
            # Overlapping windows may hold a span twice; each is compared with its nearest.
            scores = {}
            for candidate in self.candidates(question, context, parameters, model):
                scores.setdefault((candidate.first, candidate.last), []).append(candidate.score)
            for candidate in best:
                changes.append(min(abs(candidate.score - score) for score in scores[candidate.first, candidate.last]))
        return max(changes)

    def candidates(
        self, question: list[int], context: list[int], parameters: Parameters, model=None
    ) -> list[Candidate]:
        """The spans of all windows, best first; of equal ones the smaller start, the smaller end, the earlier window."""
        spans = []
        impossible = 1.0
        for offset, window in windows(context, self.room(question, parameters), parameters.doc_stride):
            start, end = self.probabilities(model or self.model, question, window, parameters.handle_impossible_answer)
            impossible = min(impossible, start[0] * end[0])
            for first in range(len(window)):
                for last in range(first, min(first + parameters.max_answer_len, len(window))):
                    score = start[1 + first] * end[1 + last]
                    spans.append(Candidate(score, offset + first, offset + last))
        # The sort is stable, so that equal spans stay in the order of their windows.
        spans.sort(key=lambda span: (-span.score, span.first, span.last))
        if parameters.handle_impossible_answer:
            spans.append(Candidate(impossible, None, None))
            spans.sort(key=lambda span: -span.score)
        return spans

    def room(self, question: list[int], parameters: Parameters) -> int:
        special = sum(len(self.pair[place]) for place in ("before", "between", "after"))
        room = parameters.max_seq_len - special - len(question)
        if room < 1:
            raise ValueError(
                f"max_seq_len: {parameters.max_seq_len} leaves no room for the context "
                f"beside {len(question)} question tokens and {special} special tokens"
            )
        return room

    def probabilities(
        self, model, question: list[int], window: list[int], with_impossible: bool
    ) -> tuple[list[float], list[float]]:
        """Start and end probabilities: first that of the classification token (0 unless asked for), then the window's.

        The logits are float32, the softmax over them is float64.
        """
        before, between, after = (self.pair[place] for place in ("before", "between", "after"))
        head = before + question + between
        ids = head + window + after
        types = [self.pair["questionType"]] * len(head) + [self.pair["contextType"]] * (len(ids) - len(head))
        row = {"input_ids": ids, "attention_mask": [1] * len(ids), "token_type_ids": types}
        with torch.inference_mode():
            logits = model(*(torch.tensor([row[name]]) for name in self.inputs))
        start, end = (
            softmax_over(side[0].double(), range(len(head), len(head) + len(window)), with_impossible)
            for side in logits
        )
        return start, end


def disturb(model, seed: int):
    """Moves every fp32 weight by a last bit or two, about what adding in a different order does."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1 + 3e-7 * torch.randn(weight.shape, generator=generator))
    return model


def softmax_over(logits: torch.Tensor, context: range, with_impossible: bool) -> list[float]:
    """Probabilities of position 0, then of the context's positions; all other positions take no part."""
    chosen = logits[[0, *context]]
    if not with_impossible:
        chosen[0] = -torch.inf
    return torch.softmax(chosen, dim=0).tolist()


def windows(context: list[int], room: int, doc_stride: int):
    """The windows of at most `room` tokens with their offsets; neighbours share `doc_stride` tokens, or half a window."""
    step = room - min(doc_stride, room // 2)
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
        """The characters from `start` up to `end` that a candidate stands for."""
        first, last = candidate.first, candidate.last
        if first is None:
            return 0, 0
        if self.align_to_words:
            while first > 0 and self.word_ids[first - 1] == self.word_ids[first]:
                first -= 1
            while last + 1 < len(self.ids) and self.word_ids[last + 1] == self.word_ids[last]:
                last += 1
        return self.offsets[first][0], self.offsets[last][1]

    def answer(self, candidate: Candidate) -> dict:
        start, end = self.span(candidate)
        return {"answer": self.context[start:end], "score": round(candidate.score, 6), "start": start, "end": end}


def margin(candidates: list[Candidate], top_k: int, text: Text) -> float:
    """The smallest distance of a reported answer to the next one that is a different span; 1 if there is none."""
    distances = [1.0]
    for rank, candidate in enumerate(candidates[:top_k]):
        behind = (other for other in candidates[rank + 1 :] if text.span(other) != text.span(candidate))
        runner_up = next(behind, None)
        if runner_up is not None:
            distances.append(candidate.score - runner_up.score)
    return min(distances)


def expand(context: str | list) -> str:
    if isinstance(context, str):
        return context
    return "".join(item if isinstance(item, str) else item["repeat"] * item["times"] for item in context)


def read_lines(path: Path) -> list[dict]:
    return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines() if line]


def main() -> None:
    parser = argparse.ArgumentParser(description="Compute the reference answers.")
    parser.add_argument("--artifact", type=Path, default=Path("model-artifact"))
    parser.add_argument("--model", type=Path, help="a TorchScript file to use instead of the artifact's")
    parser.add_argument("--questions", type=Path, default=Path("trace/questions.jsonl"))
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()

    # One sum, one order: with more threads, the answers would depend on the number of cores.
    torch.set_num_threads(1)
    reference = Reference(arguments.artifact, arguments.model)
    arguments.output.parent.mkdir(parents=True, exist_ok=True)
    with arguments.output.open("w", encoding="utf-8") as output:
        for case in read_lines(arguments.questions):
            parameters = Parameters(**case.get("parameters", {}))
            result = reference.answer(case["question"], expand(case["context"]), parameters)
            output.write(json.dumps(case | result, ensure_ascii=False) + "\n")
            found = "  ".join(f"{answer['score']:.4f} {answer['answer']!r}" for answer in result["answers"])
            note = "  NEAR TIE" if result["margin"] <= 2 * result["drift"] else ""
            print(f"{case['name']}: {found}  drift {result['drift']:.4f}  margin {result['margin']:.4f}{note}")


if __name__ == "__main__":
    main()
