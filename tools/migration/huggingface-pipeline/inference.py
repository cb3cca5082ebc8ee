"""A pipeline of transformers: {"inputs": ..., "parameters": {...}}."""

from transformers import pipeline


def model_fn(model_dir):
    return pipeline("text-classification", model=model_dir, tokenizer=model_dir)


def predict_fn(data, classifier):
    inputs = data.pop("inputs", data)
    parameters = data.pop("parameters", None)
    if parameters is not None:
        return classifier(inputs, **parameters)
    return classifier(inputs)
