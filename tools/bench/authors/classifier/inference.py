"""The BERT classifier in AWS's PyTorch container. The tokenizer and the weights are in the artifact."""

import json

import torch
from transformers import pipeline


def model_fn(model_dir):
    return pipeline("text-classification", model=model_dir, device=0 if torch.cuda.is_available() else -1)


def input_fn(body, content_type):
    if content_type != "application/json":
        raise ValueError("unsupported content type " + content_type)
    return json.loads(body)["inputs"]


def predict_fn(inputs, model):
    return model(inputs)


def output_fn(prediction, accept):
    return json.dumps(prediction), "application/json"
