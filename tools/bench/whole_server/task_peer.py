"""FastAPI with a model of a task, in the way that its users write it: PEER_TASK, PEER_MODEL, PEER_TOKENIZER, PEER_THREADS.

The file is the TorchScript that Berth serves, or with onnx in PEER_ENGINE the ONNX file. For embeddings PEER_ENGINE may
be sentence-transformers, with the directory of the model in PEER_MODEL. Requests and answers are Berth's: {"inputs": text}.
"""

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from fastapi import FastAPI
from pydantic import BaseModel
from tokenizers import Encoding, Tokenizer

TOP = 5


class Text(BaseModel):
    inputs: str


class Model:
    """A model file with its tokenizer; what it returns for a text, and how its tokens stand in it."""

    def __init__(self, file: Path, tokenizer: Path) -> None:
        self.graph = onnx_graph(file) if file.suffix == ".onnx" else torch.jit.load(str(file)).eval()
        self.tokenizer = Tokenizer.from_file(str(tokenizer))
        described = json.loads((file.parent / "model.json").read_text(encoding="utf-8"))
        self.labels = described.get("labels", [])
        self.inputs = described["inputs"]

    def __call__(self, text: str) -> tuple[Encoding, torch.Tensor]:
        encoding = self.tokenizer.encode(text)
        rows = {"input_ids": encoding.ids, "attention_mask": encoding.attention_mask, "token_type_ids": encoding.type_ids}
        with torch.inference_mode():
            return encoding, self.graph(*(torch.tensor([rows[name]]) for name in self.inputs))


def onnx_graph(file: Path) -> Callable[..., torch.Tensor]:
    import onnxruntime

    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = int(os.environ["PEER_THREADS"])
    options.inter_op_num_threads = 1
    session = onnxruntime.InferenceSession(str(file), options, providers=["CPUExecutionProvider"])
    names = [one.name for one in session.get_inputs()]

    def forward(*rows: torch.Tensor) -> torch.Tensor:
        [answer] = session.run(None, {name: row.numpy() for name, row in zip(names, rows, strict=True)})
        return torch.from_numpy(answer)

    return forward


def text_classification(model: Model, text: str) -> list[dict[str, Any]]:
    _, logits = model(text)
    score, best = logits[0].softmax(-1).max(-1)
    return [{"label": model.labels[int(best)], "score": float(score)}]


def token_classification(model: Model, text: str) -> list[dict[str, Any]]:
    encoding, logits = model(text)
    scores, best = logits[0].softmax(-1).max(-1)
    rows = zip(scores.tolist(), best.tolist(), encoding.tokens, encoding.offsets, encoding.special_tokens_mask, strict=True)
    return [
        {"entity": model.labels[label], "score": score, "index": index, "word": word, "start": start, "end": end}
        for index, (score, label, word, (start, end), special) in enumerate(rows)
        if not special and model.labels[label] != "O"
    ]


def fill_mask(model: Model, text: str) -> list[dict[str, Any]]:
    """The file returns the scores of the masks alone."""
    encoding, logits = model(text)
    scores, best = logits[0].softmax(-1).topk(TOP)
    place = encoding.tokens.index("[MASK]")
    found = []
    for score, token in zip(scores.tolist(), best.tolist(), strict=True):
        ids = [*encoding.ids[:place], token, *encoding.ids[place + 1 :]]
        words = {"token": token, "token_str": model.tokenizer.decode([token])}
        found.append({"score": score, **words, "sequence": model.tokenizer.decode(ids)})
    return found


def sentence_embeddings(model: Model, text: str) -> list[float]:
    _, vectors = model(text)
    return vectors[0].tolist()


ANSWERS: dict[str, Callable[[Model, str], Any]] = {
    "text-classification": text_classification,
    "token-classification": token_classification,
    "fill-mask": fill_mask,
    "sentence-embeddings": sentence_embeddings,
}


def load() -> Callable[[str], Any]:
    torch.set_num_threads(int(os.environ["PEER_THREADS"]))
    model = Path(os.environ["PEER_MODEL"])
    if os.environ["PEER_ENGINE"] == "sentence-transformers":
        from sentence_transformers import SentenceTransformer

        encoder = SentenceTransformer(str(model), device="cpu")
        return lambda text: encoder.encode(text, show_progress_bar=False).tolist()
    traced = Model(model, Path(os.environ["PEER_TOKENIZER"]))
    answer = ANSWERS[os.environ["PEER_TASK"]]
    return lambda text: answer(traced, text)


app = FastAPI()
answer = load()


@app.get("/ping")
async def ping() -> None:
    pass


@app.post("/invocations")
async def invocations(body: Text) -> Any:
    return answer(body.inputs)
