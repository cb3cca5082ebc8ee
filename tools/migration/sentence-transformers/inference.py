"""Embeddings of sentences: {"inputs": ["..."]} is answered by {"vectors": [[...]]}."""

import torch
import torch.nn.functional as F
from transformers import AutoModel, AutoTokenizer


def mean_pooling(token_embeddings, attention_mask):
    mask = attention_mask.unsqueeze(-1).expand(token_embeddings.size()).float()
    return torch.sum(token_embeddings * mask, 1) / torch.clamp(mask.sum(1), min=1e-9)


def model_fn(model_dir):
    tokenizer = AutoTokenizer.from_pretrained(model_dir)
    model = AutoModel.from_pretrained(model_dir).eval()
    return model, tokenizer


def predict_fn(data, model_and_tokenizer):
    model, tokenizer = model_and_tokenizer
    sentences = data.pop("inputs", data)
    encoded = tokenizer(sentences, padding=True, truncation=True, return_tensors="pt")
    with torch.no_grad():
        output = model(**encoded)
    vectors = F.normalize(mean_pooling(output.last_hidden_state, encoded["attention_mask"]), p=2, dim=1)
    return {"vectors": vectors.tolist()}
