"""What an encoder's callers do: tokenise, take the mean over the tokens, scale to length 1."""

import tokenizers
import torch
from torch import nn
from torch.nn import functional


class TokenEmbeddings(nn.Module):
    """Takes input_ids and attention_mask of shape [n, t], returns the last hidden states as float32 [n, t, d]."""

    # TorchScript names a class after its module, and leaves out `__main__`: this name is the file's whoever imports it.
    __module__ = "__main__"

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model

    def forward(self, input_ids: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
        return self.model(input_ids=input_ids, attention_mask=attention_mask).last_hidden_state.float()


def batch(tokenizer: tokenizers.Tokenizer, sentences: list[str], longest: int) -> list[torch.Tensor]:
    """input_ids and attention_mask, padded to the longest sentence; what is longer than `longest` tokens is cut."""
    tokenizer.enable_truncation(longest)
    tokenizer.enable_padding(pad_id=tokenizer.token_to_id("[PAD]") or 0)
    encodings = tokenizer.encode_batch(sentences)
    return [
        torch.tensor([encoding.ids for encoding in encodings]),
        torch.tensor([encoding.attention_mask for encoding in encodings]),
    ]


def mean(tokens: torch.Tensor, attention_mask: torch.Tensor) -> torch.Tensor:
    """[n, t, d] and [n, t] to [n, d]: the mean over all tokens that are no padding, [CLS] and [SEP] among them."""
    weights = attention_mask[..., None].float()
    return (tokens * weights).sum(1) / weights.sum(1)


def embed(model, tokenizer: tokenizers.Tokenizer, sentences: list[str], longest: int) -> torch.Tensor:
    """[n, d], each row of length 1: the product of two rows is their cosine."""
    inputs = batch(tokenizer, sentences, longest)
    with torch.no_grad():
        return functional.normalize(mean(model(*inputs), inputs[1]))
