"""What sentence-transformers' files say of a SPLADE: a masked language model whose logits become a weight for each token
of the vocabulary. For queries some have a table of weights in place of the model.

`modules.json` names the encoder and its pooling, or a Router, whose own file names them for documents and queries. Without
it the largest logits are taken, as sentence-transformers does. Keys are applied, refused or named as in pooling.py.
"""

import json
import math
from pathlib import Path
from typing import NamedTuple

import huggingface_hub
import numpy
import tokenizers
import torch
import transformers
from torch import nn

import pooling
from examples import ENGLISH, JAPANESE
from pooling import MODULE, SETTINGS, Keys, Sentence, check, config_of, read_json
from progress import warn
from refused import Refused, first_line
from tokenizer import find

# The table in an artifact, and one of those that a model may have.
TABLE = "idf.json"
TABLES = [TABLE, "query_token_weights.txt"]

ROUTER = "router_config.json"
POOLING = "SpladePooling"
STATIC = "SparseStaticEmbedding"

OF_SETTINGS = Keys(
    ["__version__", "default_prompt_name", "prompts", "similarity_fn_name"], {"model_type": "SparseEncoder"}
)
TRANSFORMER = Keys(
    pooling.TRANSFORMER.known,
    pooling.TRANSFORMER.plain
    | {
        "modality_config": {"text": {"method": "forward", "method_output_name": "logits"}},
        "transformer_task": "fill-mask",
    },
)
OF_POOLING = Keys(["activation_function", "embedding_dimension", "pooling_strategy", "word_embedding_dimension"])
OF_ROUTER = Keys(["parameters", "structure", "types"])
OF_ROUTES = Keys(["allow_empty_key", "default_route"], {"route_mappings": {}})
OF_STATIC = Keys(["frozen", "path"])

STRATEGIES = ["max", "sum"]
# How often the logarithm of 1 more is taken behind each.
ACTIVATIONS = {"relu": 1, "log1p_relu": 2}


class Layout(NamedTuple):
    """The folders of the encoder, of its pooling and of the table for queries, each None where there is none.

    `kind` is the class of the encoder. A Transformer may be one for vectors too.
    """

    encoder: str = ""
    kind: str = "MLMTransformer"
    pooling: str | None = None
    table: str | None = None


# Compiled for the reason that pooling.py gives; without padding there is nothing to multiply.
@torch.jit.script
def without_padding(logits: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """The logits of tokens, of shape [batch, sequence, vocabulary], and 0 for padding."""
    if mask.dim() == 4:
        if mask.size(0) == 0:
            return logits
        mask = mask[:, 0, 0]
    return logits * mask[:, :, None].to(logits.dtype)


def largest(answer, attention_mask) -> torch.Tensor:
    """The largest logit of each word of the vocabulary. Padding counts as 0."""
    return without_padding(answer.logits.float(), attention_mask).amax(1)


class Pooling(nn.Module):
    """A weight for each word of the vocabulary: log(1 + relu(x)) of its largest logit, or the sum of those of all."""

    __module__ = "__main__"

    def __init__(self, strategy: str = STRATEGIES[0], logarithms: int = 1):
        super().__init__()
        self.strategy = strategy
        self.logarithms = logarithms

    def forward(self, answer, attention_mask):
        if self.strategy == "max":
            # The largest logit has the largest weight, so the others need no logarithm.
            return self.weights(largest(answer, attention_mask))
        return self.weights(without_padding(answer.logits.float(), attention_mask)).sum(1)

    def weights(self, logits):
        weights = logits.relu()
        for _ in range(self.logarithms):
            weights = weights.log1p()
        return weights


def is_named(model: str) -> bool:
    """Whether the model's files name a SpladePooling."""
    kinds = [module["type"] for module in read_json(model, "modules.json") or []]
    if "Router" in map(class_name, kinds):
        kinds += (read_json(model, ROUTER) or {}).get("types", {}).values()
    return POOLING in map(class_name, kinds)


def class_name(name: str) -> str:
    return name.rsplit(".", 1)[-1]


def layout(model: str) -> Layout:
    modules = read_json(model, "modules.json")
    if modules is None:
        warn(f"--model {model}: has no modules.json, so the largest logits are taken, as sentence-transformers does")
        return Layout()
    for module in modules:
        check("modules.json", module, MODULE)
    match [(class_name(module["type"]), module["path"]) for module in modules]:
        case [("Router", folder)]:
            return routed(model, folder)
        case parts:
            return of_encoder("modules.json", parts)


def of_encoder(file: str, parts: list[tuple[str, str]]) -> Layout:
    match parts:
        case [("Transformer" | "MLMTransformer" as kind, encoder), ("SpladePooling", behind)]:
            return Layout(encoder, kind, behind)
    found = ", ".join(name for name, _ in parts) or "nothing"
    raise Refused(f"{file}: found {found}, expected a Transformer or an MLMTransformer, and a {POOLING} behind it")


def routed(model: str, folder: str) -> Layout:
    """The encoder for documents, and the table for queries."""
    file = within(folder, ROUTER)
    router = config_of(model, file, OF_ROUTER)
    structure, parameters = router["structure"], router.get("parameters") or {}
    check(file, parameters, OF_ROUTES)
    if set(structure) != {"document", "query"}:
        raise Refused(f"{file}: structure: found {', '.join(structure) or 'nothing'}, expected document and query")
    document, query = (
        [(class_name(router["types"][name]), within(folder, name)) for name in structure[route]]
        for route in ("document", "query")
    )
    found = of_encoder(f"{file}: structure: document", document)
    if [name for name, _ in query] != [STATIC]:
        names = ", ".join(name for name, _ in query) or "nothing"
        raise Refused(f"{file}: structure: query: found {names}, expected a {STATIC}")
    if (route := parameters.get("default_route")) != "document":
        warn(f"{file}: default_route: found {json.dumps(route)}, but a text is a document unless a request says query")
    return found._replace(table=query[0][1])


def within(folder: str, name: str) -> str:
    path = (Path(folder) / name).as_posix()
    return "" if path == "." else path


def directory(model: str, folder: str) -> str:
    """The encoder by what transformers takes: the model itself, or its folder, downloaded where it must be."""
    if not folder:
        return model
    if Path(model).is_dir():
        return str(Path(model) / folder)
    try:
        return str(Path(huggingface_hub.snapshot_download(model, allow_patterns=f"{folder}/*")) / folder)
    except Exception as error:
        raise Refused(f"--model {model}: {folder} can't be downloaded: {first_line(error)}") from error


def load(model: str, encoder: str, layout: Layout) -> Sentence:
    """What the files say of the encoder in the directory `encoder`, and of what is behind it."""
    name, transformer = pooling.transformer(encoder, TRANSFORMER)
    if layout.kind == "Transformer" and not transformer.get("transformer_task"):
        raise Refused(f'{name}: transformer_task: found nothing, expected "fill-mask"')
    settings = read_json(model, SETTINGS) or {}
    check(SETTINGS, settings, OF_SETTINGS)
    return Sentence(
        steps(model, layout.pooling),
        transformer.get("max_seq_length"),
        bool(transformer.get("do_lower_case")),
        pooling.default_prompt(settings),
    )


def steps(model: str, folder: str | None) -> Pooling:
    if folder is None:
        return Pooling()
    file = within(folder, "config.json")
    config = config_of(model, file, OF_POOLING)
    strategy = chosen(file, config, "pooling_strategy", STRATEGIES)
    return Pooling(strategy, ACTIVATIONS[chosen(file, config, "activation_function", list(ACTIVATIONS))])


def chosen(file: str, config: dict, key: str, choices: list[str]) -> str:
    value = config.get(key) or choices[0]
    if value not in choices:
        raise Refused(f"{file}: {key}: found {value!r}, expected one of {', '.join(choices)}")
    return value


def named(weights: list[float], tokenizer: tokenizers.Tokenizer) -> dict[str, float]:
    """Those above 0 by the names of their tokens, the largest first. What the vocabulary doesn't name is padding of it."""
    found = [(tokenizer.id_to_token(id), weight) for id, weight in enumerate(weights) if weight > 0]
    return {token: weight for token, weight in sorted(found, key=lambda one: -one[1]) if token is not None}


def table(model: str, layout: Layout, tokenizer: tokenizers.Tokenizer) -> bytes | None:
    """The artifact's table: what tokens of queries weigh, without zeros; None where queries are encoded as any text is."""
    if layout.table is not None:
        file, weights = static(model, layout.table, tokenizer)
    else:
        file = next((name for name in TABLES if find(model, name)), None)
        if file is None:
            return None
        weights = read_table(model, file, tokenizer)
    if not weights:
        raise Refused(f"{file}: found no token with a weight, expected some")
    print(f"queries: {file} has weights of {len(weights)} tokens")
    ordered = dict(sorted(weights.items(), key=lambda one: tokenizer.token_to_id(one[0])))
    return (json.dumps(ordered, ensure_ascii=False, separators=(",", ":")) + "\n").encode()


def static(model: str, folder: str, tokenizer: tokenizers.Tokenizer) -> tuple[str, dict[str, float]]:
    """The table of a SparseStaticEmbedding. Its tokenizer must be the artifact's, which has one only."""
    config = config_of(model, within(folder, "config.json"), OF_STATIC)
    try:
        own = transformers.AutoTokenizer.from_pretrained(model, subfolder=folder)
    except Exception as error:
        raise Refused(f"{folder}: its tokenizer can't be loaded: {first_line(error)}") from error
    for text in [text for example in ENGLISH.examples + JAPANESE.examples for text in example]:
        if own(text, add_special_tokens=False)["input_ids"] != tokenizer.encode(text, add_special_tokens=False).ids:
            raise Refused(f"{folder}: its tokenizer cuts {text!r} otherwise than the one for documents")
    if path := config.get("path"):
        file = within(folder, path) if find(model, within(folder, path)) else path
        return file, read_table(model, file, tokenizer)
    file, state = pooling.state(model, folder)
    weights = state["weight"].tolist()
    tokens = own.convert_ids_to_tokens(list(range(len(weights))))
    named = {token: weight for token, weight in zip(tokens, weights, strict=True) if token is not None and weight}
    return file, of_vocabulary(file, named, tokenizer)


def read_table(model: str, file: str, tokenizer: tokenizers.Tokenizer) -> dict[str, float]:
    found = find(model, file)
    if found is None:
        raise Refused(f"{file}: not found, expected the weights of queries")
    text = found.read_text(encoding="utf-8")
    if file.endswith(".json"):
        weights = json.loads(text)
        if not isinstance(weights, dict):
            raise Refused(f"{file}: found {first_line(text)[:20]!r}, expected an object of tokens and weights")
        return of_vocabulary(file, weights, tokenizer)
    lines = [line.rpartition("\t") for line in text.split("\n") if line.strip()]
    return of_vocabulary(file, {token: number(weight) for token, _, weight in lines}, tokenizer)


def number(text: str) -> float | str:
    try:
        return float(text)
    except ValueError:
        return text


def of_vocabulary(file: str, weights: dict, tokenizer: tokenizers.Tokenizer) -> dict[str, float]:
    """Those other than 0, as the float32 that they are, of tokens that the vocabulary has."""
    for token, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight):
            raise Refused(f"{file}: {token}: found {weight!r}, expected a number")
    known = {token: weight for token, weight in weights.items() if tokenizer.token_to_id(token) is not None}
    if unknown := [token for token in weights if token not in known]:
        warn(f"{file}: {len(unknown)} tokens are not in the vocabulary, such as {unknown[0]!r}, and are passed over")
    rounded = {token: float(str(numpy.float32(weight))) for token, weight in known.items()}
    return {token: weight for token, weight in rounded.items() if weight}
