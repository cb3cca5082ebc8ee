"""A fine-tuned BERT: {"text": ["..."]} is answered by labels and probabilities."""

import json
import logging

import torch
from transformers import AutoModelForSequenceClassification, AutoTokenizer

logger = logging.getLogger(__name__)
device = torch.device("cuda" if torch.cuda.is_available() else "cpu")


def model_fn(model_dir):
    logger.info("Loading the model from %s", model_dir)
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    model = AutoModelForSequenceClassification.from_pretrained(model_dir)
    return tokenizer, model.to(device).eval()


def input_fn(request_body, request_content_type):
    if request_content_type != "application/json":
        raise ValueError(f"Unsupported content type: {request_content_type}")
    text = json.loads(request_body)["text"]
    return [text] if isinstance(text, str) else text


def predict_fn(texts, model):
    tokenizer, classifier = model
    rows = tokenizer(texts, padding=True, truncation=True, return_tensors="pt").to(device)
    with torch.no_grad():
        probabilities = torch.softmax(classifier(**rows).logits, dim=1)
    labels = [classifier.config.id2label[i] for i in probabilities.argmax(dim=1).tolist()]
    return {"labels": labels, "probabilities": probabilities.tolist()}


def output_fn(prediction, accept):
    return json.dumps(prediction), accept
