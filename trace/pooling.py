"""What sentence-transformers' files say of a model: its prompt, its longest text, and what happens to the vectors of
tokens, which is pooling, dense layers and normalisation.

`modules.json` lists the steps. Without it the mean of the tokens is taken, as sentence-transformers does. Each key is
applied, refused where a vector would be another one without it, or named in a warning.
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

SETTINGS = "config_sentence_transformers.json"

# The settings of a Transformer, the first that is there.
TRANSFORMERS = [
    f"sentence_{family}_config.json"
    for family in ("bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
]

OLD_NAMES = {
    "pooling_mode_cls_token": "cls",
    "pooling_mode_max_tokens": "max",
    "pooling_mode_mean_tokens": "mean",
    "pooling_mode_mean_sqrt_len_tokens": "mean_sqrt_len_tokens",
    "pooling_mode_weightedmean_tokens": "weightedmean",
    "pooling_mode_lasttoken": "lasttoken",
}


class Keys(NamedTuple):
    """Those of a file that are applied or mean nothing for `encode`, and those with one value that needs nothing."""

    known: list[str]
    plain: dict = {}


MODULE = Keys(["idx", "name", "path", "type"])
OF_SETTINGS = Keys(
    ["__version__", "default_prompt_name", "prompts", "similarity_fn_name", "truncate_dim"],
    {"model_type": "SentenceTransformer"},
)
TRANSFORMER = Keys(
    ["do_lower_case", "document_length", "max_seq_length", "query_expansion", "query_length", "unpad_inputs"],
    {
        "modality_config": {"text": {"method": "forward", "method_output_name": "last_hidden_state"}},
        "module_output_name": "token_embeddings",
        "transformer_task": "feature-extraction",
        "processing_kwargs": {},
    },
)
POOLING = Keys([*OLD_NAMES, "embedding_dimension", "include_prompt", "pooling_mode", "word_embedding_dimension"])
OF_VECTORS = {"module_input_name": "sentence_embedding", "module_output_name": "sentence_embedding"}
NORMALIZE = Keys([], OF_VECTORS)
DENSE = Keys(["activation_function", "bias", "in_features", "out_features"], OF_VECTORS | {"use_residual": False})


class Sentence(NamedTuple):
    """The steps behind the encoder, the most tokens that a text may have, None where no file says that, whether texts are
    put in lower case, and the defaults of a request's parameters."""

    steps: nn.Module
    longest: int | None
    lower_case: bool
    parameters: dict


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

    It refuses what is not known here: vectors would be others than those of sentence-transformers.
    """
    _, settings_of_encoder = transformer(model, TRANSFORMER)
    settings = read_json(model, SETTINGS) or {}
    check(SETTINGS, settings, OF_SETTINGS)
    parameters = defaults(settings)
    return Sentence(
        steps(model, "prompt" in parameters),
        settings_of_encoder.get("max_seq_length"),
        bool(settings_of_encoder.get("do_lower_case")),
        parameters,
    )


def transformer(model: str, keys: Keys) -> tuple[str, dict]:
    """The name of the file of a Transformer's settings, and those."""
    name = next((name for name in TRANSFORMERS if find(model, name)), TRANSFORMERS[0])
    settings = read_json(model, name) or {}
    check(name, settings, keys)
    return name, settings


def defaults(settings: dict) -> dict:
    """What a request's parameters are where it leaves them out."""
    parameters = default_prompt(settings)
    if (dimension := settings.get("truncate_dim")) is not None:
        if not isinstance(dimension, int) or dimension < 1:
            raise Refused(f"{SETTINGS}: truncate_dim: found {dimension}, expected a whole number of at least 1")
        parameters["truncate_dim"] = dimension
    return parameters


def default_prompt(settings: dict) -> dict:
    name, prompts = settings.get("default_prompt_name"), settings.get("prompts") or {}
    if name and not isinstance(prompts.get(name), str):
        raise Refused(f"{SETTINGS}: default_prompt_name: found {name!r}, expected one of {', '.join(prompts) or 'prompts'}")
    return {"prompt": prompts[name]} if name and prompts[name] else {}


def steps(model: str, has_prompt: bool) -> Pooling:
    modules = read_json(model, "modules.json")
    if modules is None:
        warn(f"--model {model}: has no modules.json, so the mean of the tokens is taken, as sentence-transformers does")
        return Pooling(["mean"], [])
    modes, behind = None, []
    for module in modules:
        check("modules.json", module, MODULE)
        name, folder = module["type"].rsplit(".", 1)[-1], module["path"]
        file = f"{folder}/config.json"
        if name == "Transformer":
            if folder:
                raise Refused(f"modules.json: path: found {folder!r}, expected a Transformer in the directory itself")
        elif name == "Pooling":
            config = config_of(model, file, POOLING)
            check_prompt(file, config, has_prompt)
            modes = pooling_modes(config, folder)
        elif name == "Dense":
            config_of(model, file, DENSE)
            behind.append(dense(model, folder))
        elif name == "Normalize":
            check(file, read_json(model, file) or {}, NORMALIZE)
            behind.append(Normalise())
        else:
            raise Refused(f"modules.json: found {name}, expected Transformer, Pooling, Dense or Normalize")
    if modes is None:
        raise Refused("modules.json: found no Pooling, expected one")
    return Pooling(modes, behind)


def config_of(model: str, file: str, keys: Keys) -> dict:
    config = read_json(model, file)
    if config is None:
        raise Refused(f"{file}: not found, and modules.json names it")
    check(file, config, keys)
    return config


def check_prompt(file: str, config: dict, has_prompt: bool) -> None:
    """A prompt's tokens are pooled as all others."""
    if not config.get("include_prompt", True):
        if has_prompt:
            raise Refused(f"{file}: include_prompt: found false, expected true, or no default_prompt_name")
        warn(f"{file}: include_prompt: found false, but the tokens of a request's prompt are pooled")


def check(file: str, config: dict, keys: Keys) -> None:
    for name, value in config.items():
        if value is None or value in ({}, []) or name in keys.known:
            continue
        if name not in keys.plain:
            warn(f"{file}: {name}: found {json.dumps(value)}, which is passed over")
        elif value != keys.plain[name]:
            raise Refused(f"{file}: {name}: found {json.dumps(value)}, expected {json.dumps(keys.plain[name])}")


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
    _, tensors = state(model, folder)
    linear.load_state_dict({name.removeprefix("linear."): tensor for name, tensor in tensors.items()})
    activation = config.get("activation_function", "torch.nn.modules.activation.Tanh").rsplit(".", 1)[-1]
    if not hasattr(nn, activation):
        raise Refused(f"{folder}/config.json: activation_function: found {activation!r}, expected one of torch.nn")
    return Dense(linear.float().requires_grad_(False), getattr(nn, activation)())


def state(model: str, folder: str) -> tuple[str, dict[str, torch.Tensor]]:
    """The name of the file of a module's tensors, and those."""
    name = f"{folder}/model.safetensors"
    if weights := find(model, name):
        return name, safetensors.torch.load_file(weights)
    name = f"{folder}/pytorch_model.bin"
    return name, torch.load(find(model, name), map_location="cpu", weights_only=True)


def read_json(model: str, name: str):
    found = find(model, name)
    return json.loads(found.read_text(encoding="utf-8")) if found else None
