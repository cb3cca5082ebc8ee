"""Computes the reference answers that the Java server is tested against.

Independent of the server and of transformers: it uses only tokenizers and torch, on the same artifact. `answering.py`
is the algorithm; here are the questions and how sure their answers are.

    python trace/reference.py --artifact model-artifact --questions trace/questions.jsonl \\
        --output src/test/resources/reference/question-answering.jsonl
    python trace/reference.py --model src/test/resources/torchscript/waves.pt \\
        --output src/test/resources/reference/question-answering-exact.jsonl

The second one replaces the artifact's model by one that computes the same everywhere, for a strict comparison.

Each line of the questions, and of the output, holds one request. Its context is a string, or a list whose items are
strings and {"repeat": text, "times": n}: joined, they are the context. That keeps contexts of 50,000 characters small.

int8 is not the same everywhere. Another CPU or another torch rounds a last bit differently, that moves an activation to
the neighbouring one of its 127 steps, and scores that were not near 0 or 1 move visibly. Each line says how much to
expect. `drift` is the largest change of a reported score over runs with weights disturbed in their last bits: compare
scores within 1e-3 + 2 · drift. `margin` is the distance from a reported answer to the next best that is a different
span: where it is below 2 · drift, the order is a matter of luck. The tool names such cases, so that they are reworded.
"""

import argparse
import json
from pathlib import Path

import torch
from torch.nn.functional import pad

from answering import Answering, Candidate, Model, Parameters, Text
from japanese_words import load_tokenizer

DISTURBED_RUNS = 16


class Reference:
    """Answers questions with the artifact in a directory."""

    def __init__(self, artifact: Path, model: Path | None = None):
        description = json.loads((artifact / "model.json").read_text(encoding="utf-8"))
        self.answering = Answering(description, load_tokenizer(artifact / "tokenizer.json"))
        self.model = load(artifact, description, model)
        self.disturbed = [load(artifact, description, model, seed) for seed in range(DISTURBED_RUNS)]

    def answer(self, question: str, context: str, chosen: dict) -> dict:
        """The answers, best first, with the drift and the margin of their scores."""
        parameters = self.answering.parameters(chosen)
        text = self.answering.text(context, parameters)
        question_ids = self.answering.question_ids(question, parameters)
        candidates = self.answering.candidates(self.model, question_ids, text.ids, parameters)
        best = candidates[: parameters.top_k]
        return {
            "answers": [text.answer(candidate) for candidate in best],
            "drift": round(self.drift(best, question_ids, text.ids, parameters), 6),
            "margin": round(margin(candidates, parameters.top_k, text), 6),
        }

    def drift(self, best: list[Candidate], question: list[int], context: list[int], parameters: Parameters) -> float:
        """The largest change of the best candidates' scores when the weights are disturbed in their last bits."""
        changes = [0.0]
        for model in self.disturbed:
            # Overlapping windows may hold a span twice; each is compared with its nearest.
            scores = {}
            for candidate in self.answering.candidates(model, question, context, parameters):
                scores.setdefault((candidate.first, candidate.last), []).append(candidate.score)
            for candidate in best:
                changes.append(min(abs(candidate.score - score) for score in scores[candidate.first, candidate.last]))
        return max(changes)


class Compiled:
    """Pads a row to the shortest compiled shape that takes it, and cuts the logits back."""

    def __init__(self, files: list[dict], inputs: list[str], padding: int):
        self.files = sorted(files, key=lambda file: (file["sequence"], file["batch"]))
        self.fillers = [padding if name == "input_ids" else 0 for name in inputs]

    def __call__(self, *row: torch.Tensor) -> list[torch.Tensor]:
        length = row[0].shape[1]
        file = next(file for file in self.files if file["sequence"] >= length)
        spare = (0, file["sequence"] - length, 0, file["batch"] - 1)
        padded = (pad(tensor, spare, value=filler) for tensor, filler in zip(row, self.fillers, strict=True))
        return [logits[:1, :length] for logits in file["model"](*padded)]


def load(artifact: Path, description: dict, model: Path | None, disturbed_by: int | None = None) -> Model:
    """The artifact's model, or the one of another file, its weights disturbed where a seed is given."""

    def module(file: Path):
        loaded = torch.jit.load(str(file))
        return loaded if disturbed_by is None else disturb(loaded, disturbed_by)

    if model is not None or description["shapes"] == "dynamic":
        return module(model or artifact / description["files"][0]["path"])
    files = [file | {"model": module(artifact / file["path"])} for file in description["files"]]
    return Compiled(files, description["inputs"], description["pair"]["padding"])


def disturb(model, seed: int):
    """Moves every fp32 weight by a last bit or two, about what adding in a different order does."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in model.parameters():
            weight.mul_(1 + 3e-7 * torch.randn(weight.shape, generator=generator))
    return model


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


def write_answers(reference: Reference, cases: list[dict], output: Path) -> None:
    """Writes each case with its answers, and prints them for a person to read."""
    output.parent.mkdir(parents=True, exist_ok=True)
    with output.open("w", encoding="utf-8") as file:
        for case in cases:
            result = reference.answer(case["question"], expand(case["context"]), case.get("parameters", {}))
            file.write(json.dumps(case | result, ensure_ascii=False) + "\n")
            found = "  ".join(f"{answer['score']:.4f} {answer['answer']!r}" for answer in result["answers"])
            note = "  NEAR TIE" if result["margin"] <= 2 * result["drift"] else ""
            print(f"{case['name']}: {found}  drift {result['drift']:.4f}  margin {result['margin']:.4f}{note}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compute the reference answers.")
    parser.add_argument("--artifact", type=Path, default=Path("model-artifact"))
    parser.add_argument("--model", type=Path, help="a TorchScript file to use instead of the artifact's")
    parser.add_argument("--questions", type=Path, default=Path("trace/questions.jsonl"))
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()

    # One sum, one order: with more threads, the answers would depend on the number of cores.
    torch.set_num_threads(1)
    write_answers(Reference(arguments.artifact, arguments.model), read_lines(arguments.questions), arguments.output)


if __name__ == "__main__":
    main()
