"""A regression in the words of TensorFlow Serving: {"instances": [[...]]} is answered by {"predictions": [[...]]}."""

import json
import os

import torch


def model_fn(model_dir):
    return torch.jit.load(os.path.join(model_dir, "model.pt"), map_location="cpu").eval()


def input_fn(request_body, request_content_type):
    if request_content_type != "application/json":
        raise ValueError(f"Unsupported content type: {request_content_type}")
    return torch.tensor(json.loads(request_body)["instances"], dtype=torch.float32)


def predict_fn(instances, model):
    with torch.no_grad():
        return model(instances)


def output_fn(predictions, accept):
    return json.dumps({"predictions": predictions.tolist()}), accept
