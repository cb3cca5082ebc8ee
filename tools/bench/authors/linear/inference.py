"""The linear model in AWS's PyTorch container."""

import json
import os

import torch

device = "cuda" if torch.cuda.is_available() else "cpu"


def model_fn(model_dir):
    return torch.jit.load(os.path.join(model_dir, "model.pt"), map_location=device).eval()


def input_fn(body, content_type):
    if content_type != "application/json":
        raise ValueError("unsupported content type " + content_type)
    flats = json.loads(body)["flats"]
    if any("rooms" not in flat for flat in flats):
        raise ValueError("rooms: expected a number")
    return torch.tensor([[flat["squareMetres"], flat["rooms"]] for flat in flats], dtype=torch.float32, device=device)


def predict_fn(data, model):
    with torch.no_grad():
        return model(data)


def output_fn(prediction, accept):
    return json.dumps({"prices": prediction[:, 0].tolist()}), "application/json"
