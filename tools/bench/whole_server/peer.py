"""What a user would run instead of Berth: FastAPI with one model, of torch or ONNX Runtime, and one route.

It is told by PEER_ENGINE, PEER_MODEL, PEER_TOKENIZER, PEER_THREADS and PEER_PADDED. The forward runs in the event loop, as in the
sample that it follows: a pool of threads in front of so few cores only makes every answer late.
"""

import os
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from pydantic import BaseModel

if os.environ["PEER_ENGINE"] == "onnx":
    from whole_server.onnx_answering import OnnxAnswerer as Answerer
else:
    from whole_server.answering import Answerer


class Question(BaseModel):
    question: str
    context: str


app = FastAPI()
answerer = Answerer(
    Path(os.environ["PEER_MODEL"]),
    Path(os.environ["PEER_TOKENIZER"]),
    int(os.environ["PEER_THREADS"]),
    padded=os.environ["PEER_PADDED"] == "true",
)
for _ in range(3):
    answerer.answer("Who came?", "Bob came.")


@app.get("/ping")
async def ping() -> None:
    pass


@app.post("/invocations")
async def invocations(body: Question) -> dict[str, Any]:
    return answerer.answer(body.question, body.context)
