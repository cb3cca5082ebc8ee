"""FastAPI with sentence-transformers, as its users write it: PEER_TASK, PEER_MODEL and PEER_THREADS. A list of texts is answered by a
list of vectors, or of weights by token."""

import os
from typing import Any

import torch
from fastapi import FastAPI
from sentence_transformers import SentenceTransformer, SparseEncoder

torch.set_num_threads(int(os.environ["PEER_THREADS"]))
is_sparse = os.environ["PEER_TASK"] == "sparse-embeddings"
model = (SparseEncoder if is_sparse else SentenceTransformer)(os.environ["PEER_MODEL"], device="cpu")
app = FastAPI()


@app.get("/ping")
async def ping() -> None:
    pass


@app.post("/invocations")
def invocations(texts: list[str]) -> list[Any]:
    vectors = model.encode(texts, show_progress_bar=False)
    return [dict(weights) for weights in model.decode(vectors)] if is_sparse else vectors.tolist()
