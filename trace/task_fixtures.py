"""Makes the tiny artifacts of the Java tests for each task, with what transformers' own pipelines answer.

    python trace/task_fixtures.py --output src/test/resources/tasks

Each directory is an artifact in fp32. Its expected.jsonl.gz has a request a line and the answer of the pipeline with the
model that was traced. Embeddings are those of sentence-transformers, which must be installed for them.
"""

import argparse
import base64
import gzip
import io
import json
import sys
import tempfile
from pathlib import Path

import transformers
from PIL import Image

import asking
import picture_models
import preparation
import task_models
import trace as tracer
from pictures import drawn

SHORT = "Marie Curie was born in Warsaw."
LONG = "The lighthouse burns nothing today: the lamp is electric, and it works by itself!"
ODD = ["", " ", "Ωmega 😀 naïve\n\tcafé", "it's 1923"]
TOO_LONG = "the lamp and the letter " * 30
PAIR = {"text": "Who wrote the letter?", "text_pair": "A baker called Tomasz."}

MASKED = "Marie Curie was born in {mask}."
STRATEGIES = ["none", "simple", "first", "average", "max"]

REQUESTS = {
    "token-classification": [
        *({"inputs": [SHORT, LONG, *ODD], "parameters": {"aggregation_strategy": name}} for name in STRATEGIES),
        {"inputs": LONG},
        {"inputs": [LONG]},
        {"inputs": TOO_LONG},
        {"inputs": LONG, "parameters": {"aggregation_strategy": "simple", "ignore_labels": []}},
        {"inputs": LONG, "parameters": {"ignore_labels": ["O", "MISC", "B-PER"]}},
    ],
    "sentence-embeddings": [
        {"inputs": SHORT},
        {"inputs": [SHORT, LONG, *ODD, TOO_LONG]},
        {"inputs": LONG, "parameters": {"normalize_embeddings": True}},
        {"inputs": [LONG], "parameters": {"truncate_dim": 4, "normalize_embeddings": True}},
    ],
    "fill-mask": [
        {"inputs": MASKED},
        {"inputs": [MASKED]},
        {"inputs": [MASKED, "The lamp is {mask}, and it works by itself!"], "parameters": {"top_k": 2}},
        {"inputs": "The {mask} is electric, and it {mask} by itself!", "parameters": {"top_k": 2}},
        {"inputs": MASKED, "parameters": {"targets": ["in", "the", "baker"], "top_k": 3}},
        {"inputs": MASKED + " " + TOO_LONG, "parameters": {"truncation": True, "top_k": 1}},
    ],
    "text-classification": [
        {"inputs": SHORT},
        {"inputs": [SHORT, LONG, *ODD]},
        {"inputs": SHORT, "parameters": {"top_k": 1}},
        {"inputs": SHORT, "parameters": {"top_k": None}},
        {"inputs": [SHORT, LONG], "parameters": {"top_k": 2}},
        {"inputs": SHORT, "parameters": {"function_to_apply": "sigmoid", "top_k": 3}},
        {"inputs": [SHORT, LONG], "parameters": {"function_to_apply": "none"}},
        {"inputs": PAIR},
        {"inputs": [PAIR, {"text": LONG, "text_pair": SHORT}], "parameters": {"top_k": 2}},
        {"inputs": [TOO_LONG, SHORT], "parameters": {"truncation": True}},
        {"inputs": {"text": LONG, "text_pair": TOO_LONG}, "parameters": {"truncation": True}},
    ],
}


# PNG, JPEG, GIF, WebP without and with losses, one turned by its EXIF, one without colours.
PICTURES = [
    ("PNG", {}), ("JPEG", {"quality": 90}), ("GIF", {}), ("WEBP", {"lossless": True}), ("WEBP", {"quality": 80}),
]  # fmt: skip


def pictures_of_all_kinds() -> list[str]:
    """In base64."""
    files = [saved(drawn(number), kind, **more) for number, (kind, more) in enumerate(PICTURES)]
    turned = Image.Exif()
    turned[0x0112] = 6
    files.append(saved(drawn(1), "JPEG", quality=90, exif=turned))
    files.append(saved(drawn(4).convert("L"), "PNG"))
    return [base64.b64encode(file).decode() for file in files]


def saved(picture: Image.Image, kind: str, **more) -> bytes:
    file = io.BytesIO()
    picture.save(file, kind, **more)
    return file.getvalue()


def picture_requests() -> list[dict]:
    pictures = pictures_of_all_kinds()
    # One picture's requests stand together, which makes half the archive.
    return [
        {"inputs": pictures[0]},
        {"inputs": pictures[:1]},
        {"inputs": pictures[0], "parameters": {"top_k": None}},
        {"inputs": pictures[:3], "parameters": {"top_k": 2}},
        {"inputs": pictures[1]},
        {"inputs": pictures[1], "parameters": {"function_to_apply": "sigmoid", "top_k": 1}},
        {"inputs": pictures[2]},
        {"inputs": [pictures[2]], "parameters": {"function_to_apply": "none", "top_k": 100}},
        *({"inputs": picture} for picture in pictures[3:]),
    ]


def requests(task: str, directory: Path) -> list[dict]:
    if task == "image-classification":
        return picture_requests()
    mask = transformers.AutoTokenizer.from_pretrained(directory).mask_token
    return [filled(request, mask) for request in REQUESTS[task]]


def answer(task: str, directory: Path, request: dict):
    parameters = dict(request.get("parameters", {}))
    if task == "sentence-embeddings":
        from sentence_transformers import SentenceTransformer

        model = SentenceTransformer(str(directory), device="cpu")
        return model.encode(request["inputs"], **parameters).tolist()
    if task == "fill-mask" and "truncation" in parameters:
        parameters["tokenizer_kwargs"] = {"truncation": parameters.pop("truncation")}
    more = {"image_processor": preparation.load_processor(str(directory))} if task == "image-classification" else {}
    pipeline = transformers.pipeline(task, model=str(directory), device="cpu", **more)
    return pipeline(request["inputs"], **parameters)


def filled(request: dict, mask: str) -> dict:
    """The request with the mask of the model."""
    inputs = request["inputs"]
    texts = [text.replace("{mask}", mask) if isinstance(text, str) else text for text in as_list(inputs)]
    return request | {"inputs": texts if isinstance(inputs, list) else texts[0]}


def as_list(inputs) -> list:
    return inputs if isinstance(inputs, list) else [inputs]


def make(task: str, family: str, output: Path) -> None:
    with tempfile.TemporaryDirectory() as temporary:
        model = save(task, family, Path(temporary) / f"tiny-{family}")
        sys.argv = ["trace.py", "--model", str(model), "--output", str(output), "--precision", "fp32"]
        tracer.main()
        with gzip.open(output / "expected.jsonl.gz", "wt", encoding="utf-8") as lines:
            for request in requests(task, model):
                line = {"request": request, "answer": asking.rounded(answer(task, model, request))}
                lines.write(json.dumps(line, ensure_ascii=False) + "\n")


def families(task: str) -> list[str]:
    return list(picture_models.FAMILIES if task == "image-classification" else task_models.FAMILIES)


def save(task: str, family: str, directory: Path) -> Path:
    """A tiny model of the task."""
    if task == "image-classification":
        return picture_models.save(family, directory)
    return task_models.save(task, family, directory)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description="Make the artifacts of the Java tests for each task.")
    parser.add_argument("--output", required=True, type=Path, help="the directory of the resources")
    served = [*REQUESTS, "image-classification"]
    parser.add_argument("--task", choices=served, nargs="+", default=served, help="only these")
    arguments = parser.parse_args()
    for task in arguments.task:
        for family in families(task):
            make(task, family, arguments.output / f"{task}-{family}")
