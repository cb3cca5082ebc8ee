"""FastAPI with a traced image classifier: PEER_MODEL, PEER_THREADS. The body is a picture."""

import io
import json
import os
from pathlib import Path

import numpy
import orjson
import torch
from fastapi import FastAPI, Request, Response
from PIL import Image

TOP = 5

torch.set_num_threads(int(os.environ["PEER_THREADS"]))
file = Path(os.environ["PEER_MODEL"])
model = torch.jit.load(str(file)).eval()
described = json.loads((file.parent / "model.json").read_text(encoding="utf-8"))

app = FastAPI()


@app.get("/ping")
async def ping() -> None:
    pass


@app.post("/invocations")
async def invocations(request: Request) -> Response:
    picture = Image.open(io.BytesIO(await request.body())).convert("RGB")
    picture = picture.resize((64, 64), Image.Resampling.BILINEAR)
    pixels = numpy.asarray(picture, dtype=numpy.float32).transpose(2, 0, 1) / 127.5 - 1
    with torch.inference_mode():
        scores, best = model(torch.from_numpy(pixels[None].copy()))[0].softmax(-1).topk(TOP)
    labels = described["labels"]
    found = [
        {"label": labels[label], "score": score} for score, label in zip(scores.tolist(), best.tolist(), strict=True)
    ]
    return Response(orjson.dumps(found), media_type="application/json")
