"""What a TorchServe worker runs: the body is JSON, the answer a dictionary, as AWS's examples have it."""

import json
import os
from pathlib import Path
from typing import Any

from whole_server.answering import Answerer

answerer: Answerer | None = None


def handle(requests: list[dict[str, Any]] | None, context: Any) -> list[dict[str, Any]] | None:
    """TorchServe calls it without requests to load the model."""
    global answerer
    if answerer is None:
        answerer = Answerer(Path(os.environ["PEER_MODEL"]), Path(os.environ["PEER_TOKENIZER"]), threads=1)
    if requests is None:
        return None
    answers = []
    for request in requests:
        body = request.get("body") or request.get("data")
        asked = body if isinstance(body, dict) else json.loads(body)
        answers.append(answerer.answer(asked["question"], asked["context"]))
    return answers
