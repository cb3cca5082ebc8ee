"""Computes the reference answers that the Java server is tested against.

The answers are those of `pipeline.py`, a port of the pipeline of transformers 4.53. Here are the questions and how sure
their answers are.

    python trace/reference.py --artifact model-artifact --questions src/extensions/hub/main/resources/dev/berth/hub/questions.jsonl \\
        --output src/test/resources/reference/question-answering.jsonl
    python trace/reference.py --model src/test/resources/torchscript/waves.pt --variations 2 \\
        --output src/test/resources/reference/question-answering-exact.jsonl.gz

The second one replaces the artifact's model by one that computes the same everywhere, for a strict comparison. It asks
each question again with other parameters, and these are the same in each run.

Each line of the questions, and of the output, holds one request. Its context is a string, or a list whose items are
strings and {"repeat": text, "times": n}: joined, they are the context. That keeps contexts of 50,000 characters small.

int8 is not the same everywhere. Another CPU or another torch rounds a last bit differently, that moves an activation to
the neighbouring one of its 127 steps, and scores that were not near 0 or 1 move visibly. Each line says how much to
expect. `drift` is the largest change of a reported score over runs with weights disturbed in their last bits: compare
scores within 1e-3 + 2 · drift. `margin` is the distance from a reported answer to the next best that has another text:
where it is below 2 · drift, the order is a matter of luck. The tool names such cases, so that they are reworded.
"""

import argparse
import gzip
import json
import random
from pathlib import Path

import torch
from torch.nn.functional import pad

from japanese_words import load_tokenizer
from pipeline import Model, Pipeline, spans_of_4_54

DISTURBED_RUNS = 16

# What a variation chooses from. The server refuses windows of fewer tokens, and windows that move on by less.
LEAST_ROOM = 16
LEAST_STEP = 16
CHOICES = {
    "top_k": [1, 2, 5, 5, 12],
    "max_seq_len": [None, 48, 64, 100, 128, 256, 512],
    "doc_stride": [None, None, 0, 8, 32, 100],
    "max_answer_len": [None, None, 1, 3, 40],
    "max_question_len": [None, None, 5],
    "handle_impossible_answer": [None, True],
    "align_to_words": [None, None, False],
}


class Reference:
    """Answers questions with the artifact in a directory, or with a model that is the same everywhere."""

    def __init__(self, artifact: Path, model: Path | None = None):
        description = json.loads((artifact / "model.json").read_text(encoding="utf-8"))
        self.tokenizer = load_tokenizer(artifact / "tokenizer.json")
        self.defaults = description.get("parameters", {})
        self.special = sum(len(description["pair"][place]) for place in ("before", "between", "after"))

        def pipeline(seed: int | None = None) -> Pipeline:
            return Pipeline(description, self.tokenizer, load(artifact, description, model, seed))

        self.pipeline = pipeline()
        self.disturbed = [pipeline(seed) for seed in range(DISTURBED_RUNS if model is None else 0)]

    def answer(self, question: str, context: str, chosen: dict) -> dict:
        """The answers, best first, with the drift and the margin of their scores."""
        parameters = self.defaults | chosen
        answers = self.pipeline(question, context, **parameters)
        return {
            "answers": [answer | {"score": float(f"{answer['score']:.8g}")} for answer in answers],
            "drift": round(self.drift(answers, question, context, parameters), 6),
            "margin": float(f"{self.margin(question, context, parameters):.3g}"),
        }

    def drift(self, answers: list[dict], question: str, context: str, parameters: dict) -> float:
        """The largest change of the answers' scores when the weights are disturbed in their last bits."""
        changes = [0.0]
        for pipeline in self.disturbed:
            others = pipeline.all_answers(question, context, **parameters)
            scores = {(other["answer"], other["start"]): other["score"] for other in others}
            changes += [abs(answer["score"] - scores.get((answer["answer"], answer["start"]), 0)) for answer in answers]
        return max(changes)

    def margin(self, question: str, context: str, parameters: dict) -> float:
        """The smallest distance of a reported answer to the next one; 1 if there is none.

        It looks at the answers as they were added up, and at the best span of each text, as both may change places.
        """
        options = dict(parameters)
        top_k = options.pop("top_k", 1)
        with_impossible = options.pop("handle_impossible_answer", False)
        no_answer, spans = self.pipeline.search(question, context, spans_of_4_54(top_k, True), **options)
        best = {"": no_answer} if with_impossible else {}
        for score, start, end in spans:
            text = context[start:end].lower()
            best[text] = max(score, best.get(text, 0.0))
        added_up = [answer["score"] for answer in self.pipeline.all_answers(question, context, **parameters)]
        distances = [1.0]
        for scores in (added_up, sorted(best.values(), reverse=True)):
            distances += [score - following for score, following in zip(scores[:top_k], scores[1:], strict=False)]
        return min(distances)

    def variations(self, cases: list[dict], count: int) -> list[dict]:
        """Each case again, `count` times, with parameters that the server takes. They are the same in each run."""
        chance = random.Random(4)
        varied = []
        for case in cases:
            drawn = (self.draw(case["question"], chance) for _ in range(1000))
            for parameters in [parameters for parameters in drawn if parameters][:count]:
                named = ", ".join(f"{name} {value}" for name, value in parameters.items())
                varied.append(case | {"name": f"{case['name']}; {named}", "parameters": parameters})
        return varied

    def draw(self, question: str, chance: random.Random) -> dict | None:
        """Parameters, or None where they leave too little of a window, or none are drawn."""
        drawn = {name: chance.choice(values) for name, values in CHOICES.items()}
        drawn = {name: value for name, value in drawn.items() if value is not None}
        longest = drawn.get("max_seq_len", 384)
        tokens = len(self.tokenizer.encode(question, add_special_tokens=False))
        room = longest - self.special - min(tokens, drawn.get("max_question_len", 64))
        stride = drawn.get("doc_stride", min(longest // 2, 128))
        fits = room >= LEAST_ROOM and stride <= max(room // 2, room - LEAST_STEP)
        return drawn if fits else None


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


def frozen_weights(model) -> list[torch.Tensor]:
    """The fp32 weights of a file that is frozen, which are constants of its code."""
    constants = model.graph.findAllNodes("prim::Constant", True)
    tensors = [node.t("value") for node in constants if node.hasAttribute("value") and node.kindOf("value") == "t"]
    return [tensor for tensor in tensors if tensor.dtype == torch.float32 and tensor.dim() > 0]


def disturb(model, seed: int):
    """Moves every fp32 weight by a last bit or two, about what adding in a different order does."""
    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for weight in [*model.parameters(), *frozen_weights(model)]:
            weight.mul_(1 + 3e-7 * torch.randn(weight.shape, generator=generator))
    return model


def expand(context: str | list) -> str:
    if isinstance(context, str):
        return context
    return "".join(item if isinstance(item, str) else item["repeat"] * item["times"] for item in context)


def read_lines(path: Path) -> list[dict]:
    content = path.read_bytes()
    text = (gzip.decompress(content) if path.suffix == ".gz" else content).decode()
    return [json.loads(line) for line in text.splitlines() if line]


def write_answers(reference: Reference, cases: list[dict], output: Path) -> None:
    """Writes each case with its answers, and prints them for a person to read."""
    output.parent.mkdir(parents=True, exist_ok=True)
    opened = gzip.open if output.suffix == ".gz" else open
    with opened(output, "wt", encoding="utf-8") as file:
        for case in cases:
            result = reference.answer(case["question"], expand(case["context"]), case.get("parameters", {}))
            file.write(json.dumps(case | result, ensure_ascii=False) + "\n")
            found = "  ".join(f"{answer['score']:.4g} {answer['answer']!r}" for answer in result["answers"])
            note = "  NEAR TIE" if result["margin"] <= 2 * result["drift"] else ""
            print(f"{case['name']}: {found}  drift {result['drift']:.4f}  margin {result['margin']:.2g}{note}")


def main() -> None:
    parser = argparse.ArgumentParser(description="Compute the reference answers.")
    parser.add_argument("--artifact", type=Path, default=Path("model-artifact"))
    parser.add_argument("--model", type=Path, help="a TorchScript file to use instead of the artifact's")
    parser.add_argument("--questions", type=Path, default=Path("src/extensions/hub/main/resources/dev/berth/hub/questions.jsonl"))
    parser.add_argument("--variations", type=int, default=0, help="how often to ask each question again, otherwise")
    parser.add_argument("--output", type=Path, required=True)
    arguments = parser.parse_args()

    # One sum, one order: with more threads, the answers would depend on the number of cores.
    torch.set_num_threads(1)
    reference = Reference(arguments.artifact, arguments.model)
    cases = read_lines(arguments.questions)
    write_answers(reference, cases + reference.variations(cases, arguments.variations), arguments.output)


if __name__ == "__main__":
    main()
