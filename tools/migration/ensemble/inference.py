"""A forest and a network vote on each row: their probabilities are averaged."""

import json
import os

import joblib
import numpy as np
import torch

WEIGHTS = (0.4, 0.6)


def model_fn(model_dir):
    forest = joblib.load(os.path.join(model_dir, "forest.joblib"))
    network = torch.jit.load(os.path.join(model_dir, "network.pt"), map_location="cpu").eval()
    return forest, network


def input_fn(request_body, request_content_type):
    if request_content_type != "application/json":
        raise ValueError(f"Unsupported content type: {request_content_type}")
    return np.array(json.loads(request_body)["rows"], dtype=np.float32)


def predict_fn(rows, models):
    forest, network = models
    with torch.no_grad():
        votes = forest.predict_proba(rows), torch.softmax(network(torch.from_numpy(rows)), dim=1).numpy()
    mean = WEIGHTS[0] * votes[0] + WEIGHTS[1] * votes[1]
    return {"classes": mean.argmax(axis=1).tolist(), "probabilities": mean.tolist()}


def output_fn(prediction, accept):
    return json.dumps(prediction), accept
