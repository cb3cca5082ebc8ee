"""What sentence-transformers' files say happens to the vectors of tokens: pooling, dense layers, normalisation.

`modules.json` lists the steps. Without it the mean of the tokens is taken, as sentence-transformers does.
"""

import json
from collections.abc import Callable
from typing import NamedTuple

import safetensors.torch
import torch
from torch import nn

from progress import warn
from refused import Refused
from tokenizer import find

OLD_NAMES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


class Sentence(NamedTuple):
    """The steps behind the encoder, and the most tokens that a text may have; None where no file says that."""

    steps: nn.Module
    longest: int | None


# Compiled, since a trace would record one of the ways only. A model rewritten for CPUs has a mask of four dimensions,
# of no rows where nothing is padded.
@torch.jit.script
def mask_of_tokens(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """1 for tokens and 0 for padding, of shape [batch, sequence, 1] and the type of `hidden`."""
    if mask.dim() == 4:
        if mask.size(0) == 0:
            return torch.ones_like(hidden[:, :, :1])
        mask = mask[:, 0, 0]
    return mask[:, :, None].to(hidden.dtype)


class Pooling(nn.Module):
    """A vector for a text, of its tokens' last vectors. Several modes stand side by side."""

    __module__ = "__main__"

    def __init__(self, modes: list[str], steps: list[nn.Module]):
        super().__init__()
        self.modes = modes
        self.steps = nn.ModuleList(steps)

    def forward(self, answer, attention_mask):
        hidden = answer[0].float()
        mask = mask_of_tokens(hidden, attention_mask)
        vector = torch.cat([POOLINGS[mode](hidden, mask) for mode in self.modes], dim=-1)
        for step in self.steps:
            vector = step(vector)
        return vector


def mean(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    return (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9)


def weighted_mean(hidden: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """Later tokens count more, the first 1, the second 2."""
    return mean(hidden, mask * mask.cumsum(1))


POOLINGS: dict[str, Callable] = {
    "cls": lambda hidden, mask: hidden[:, 0],
    "max": lambda hidden, mask: hidden.masked_fill(mask == 0, -1e9).max(1).values,
    "mean": mean,
    "mean_sqrt_len_tokens": lambda hidden, mask: (hidden * mask).sum(1) / mask.sum(1).clamp(min=1e-9).sqrt(),
    "weightedmean": weighted_mean,
    "lasttoken": lambda hidden, mask: hidden.gather(
        1, (mask.sum(1, keepdim=True).long() - 1).clamp(min=0).expand(-1, -1, hidden.shape[2])
    ).squeeze(1),
}


class Normalise(nn.Module):
    __module__ = "__main__"

    def forward(self, vector):
        return nn.functional.normalize(vector, p=2.0, dim=-1)


class Dense(nn.Module):
    __module__ = "__main__"

    def __init__(self, linear: nn.Linear, activation: nn.Module):
        super().__init__()
        self.linear = linear
        self.activation = activation

    def forward(self, vector):
        return self.activation(self.linear(vector))


def load(model: str) -> Sentence:
    """The steps that the model's files name.

    It refuses modules that are not known here: vectors would be others than those of sentence-transformers.
    """
    modules = read_json(model, "modules.json")
    if modules is None:
        warn(f"--model {model}: has no modules.json, so the mean of the tokens is taken, as sentence-transformers does")
        return Sentence(Pooling(["mean"], []), None)
    modes, steps = None, []
    for module in modules:
        name, folder = module["type"].rsplit(".", 1)[-1], module["path"]
        if name == "Pooling":
            modes = pooling_modes(read_json(model, f"{folder}/config.json"), folder)
        elif name == "Dense":
            steps.append(dense(model, folder))
        elif name == "Normalize":
            steps.append(Normalise())
        elif name != "Transformer":
            raise Refused(f"modules.json: found {name}, expected Transformer, Pooling, Dense or Normalize")
    if modes is None:
        raise Refused("modules.json: found no Pooling, expected one")
    settings = read_json(model, "config_sentence_transformers.json") or {}
    if settings.get("default_prompt_name"):
        warn("config_sentence_transformers.json: default_prompt_name is not served; put the prompt before each text")
    return Sentence(Pooling(modes, steps), (read_json(model, "sentence_bert_config.json") or {}).get("max_seq_length"))


def pooling_modes(config: dict, folder: str) -> list[str]:
    named = config.get("pooling_mode") or [mode for name, mode in OLD_NAMES.items() if config.get(name)] or ["mean"]
    modes = [named] if isinstance(named, str) else list(named)
    for mode in modes:
        if mode not in POOLINGS:
            raise Refused(f"{folder}/config.json: pooling_mode: found {mode!r}, expected one of {', '.join(POOLINGS)}")
    return modes


def dense(model: str, folder: str) -> Dense:
    config = read_json(model, f"{folder}/config.json")
    linear = nn.Linear(config["in_features"], config["out_features"], bias=config.get("bias", True))
    weights = find(model, f"{folder}/model.safetensors")
    if weights:
        state = safetensors.torch.load_file(weights)
    else:
        state = torch.load(find(model, f"{folder}/pytorch_model.bin"), map_location="cpu", weights_only=True)
    linear.load_state_dict({name.removeprefix("linear."): tensor for name, tensor in state.items()})
    activation = config.get("activation_function", "torch.nn.modules.activation.Tanh").rsplit(".", 1)[-1]
    if not hasattr(nn, activation):
        raise Refused(f"{folder}/config.json: activation_function: found {activation!r}, expected one of torch.nn")
    return Dense(linear.float().requires_grad_(False), getattr(nn, activation)())


def read_json(model: str, name: str):
    found = find(model, name)
    return json.loads(found.read_text(encoding="utf-8")) if found else None
