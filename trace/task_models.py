"""Tiny models of random weights for each task, in Hugging Face's layout with the tokenizer's files, for the tests."""

import json
from pathlib import Path

import safetensors.torch
import tokenizers
import torch
import transformers
from tokenizers import processors

from tasks import TASKS
from tiny_models import BERT_TOKENS, ROBERTA_TOKENS, byte_level_bpe, word_piece

LONGEST = 48
SIZE = {
    "hidden_size": 16,
    "num_hidden_layers": 1,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "initializer_range": 0.5,
}
BERT_NAMES = {
    "pad_token": "[PAD]", "unk_token": "[UNK]", "cls_token": "[CLS]", "sep_token": "[SEP]", "mask_token": "[MASK]",
}  # fmt: skip
ROBERTA_NAMES = {
    "bos_token": "<s>", "pad_token": "<pad>", "eos_token": "</s>", "unk_token": "<unk>", "cls_token": "<s>",
    "sep_token": "</s>", "mask_token": "<mask>",
}  # fmt: skip
ROWS = ["input_ids", "attention_mask"]

LABELS = {
    "text-classification": ["negative", "neutral", "positive"],
    "token-classification": ["O", "B-PER", "I-PER", "B-LOC", "I-LOC", "MISC"],
}


def bert_tokenizer(names: list[str], vocabulary: int = 300) -> transformers.PreTrainedTokenizerFast:
    tokenizer = word_piece("$A $B", [*BERT_TOKENS, "[MASK]"], vocabulary)
    ids = {word: tokenizer.token_to_id(word) for word in ("[CLS]", "[SEP]")}
    tokenizer.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]", pair="[CLS] $A [SEP] $B:1 [SEP]:1", special_tokens=list(ids.items())
    )
    return fast(tokenizer, names, BERT_NAMES)


def roberta_tokenizer() -> transformers.PreTrainedTokenizerFast:
    tokenizer = byte_level_bpe("$A $B", [*ROBERTA_TOKENS, "<mask>"])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True)
    # It takes the space before it, as RoBERTa's does.
    mask = tokenizers.AddedToken("<mask>", lstrip=True, special=True)
    return fast(tokenizer, ROWS, ROBERTA_NAMES | {"mask_token": mask})


def fast(tokenizer: tokenizers.Tokenizer, rows: list[str], names: dict) -> transformers.PreTrainedTokenizerFast:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    return transformers.PreTrainedTokenizerFast(
        tokenizer_object=tokenizer, model_input_names=rows, model_max_length=LONGEST, **names
    )


def bert(vocabulary: int = 300, **more) -> tuple:
    tokenizer = bert_tokenizer([*ROWS, "token_type_ids"], vocabulary)
    config = transformers.BertConfig(
        vocab_size=len(tokenizer), pad_token_id=0, max_position_embeddings=LONGEST, **SIZE, **more
    )
    return config, tokenizer


def distilbert(**more) -> tuple:
    tokenizer = bert_tokenizer(ROWS)
    config = transformers.DistilBertConfig(
        vocab_size=len(tokenizer), pad_token_id=0, max_position_embeddings=LONGEST, dim=16, n_layers=1, n_heads=2,
        hidden_dim=32, initializer_range=0.5, **more,
    )  # fmt: skip
    return config, tokenizer


def roberta(**more) -> tuple:
    tokenizer = roberta_tokenizer()
    config = transformers.RobertaConfig(
        vocab_size=len(tokenizer), pad_token_id=1, bos_token_id=0, eos_token_id=2, type_vocab_size=1,
        max_position_embeddings=LONGEST + 2, **SIZE, **more,
    )  # fmt: skip
    return config, tokenizer


FAMILIES = {"bert": bert, "distilbert": distilbert, "roberta": roberta}


def save(task: str, family: str, directory: Path, **more) -> Path:
    """A model of the task and its tokenizer; `more` goes into config.json, or is how many words a BERT knows."""
    named = LABELS.get(task, [])
    numbers = {name: number for number, name in enumerate(named)}
    labels = {"id2label": dict(enumerate(named)), "label2id": numbers} if named else {}
    config, tokenizer = FAMILIES[family](**(labels | more))
    torch.manual_seed(7)
    model = getattr(transformers, TASKS[task].loader).from_config(config)
    if task == "sparse-embeddings":
        # Most logits are below 0 then, as those of trained models are.
        model.get_output_embeddings().bias.data.fill_(-3)
    model.save_pretrained(directory)
    tokenizer.save_pretrained(directory)
    if task == "sentence-embeddings":
        save_modules(directory, POOLINGS[family])
    if task == "sparse-embeddings":
        save_splade(directory, **SPLADES[family])
    return directory


# For each family other steps behind the encoder.
POOLINGS = {
    "bert": {"pooling_mode_mean_tokens": True, "normalize": True},
    "distilbert": {"pooling_mode": ["cls", "max", "weightedmean"], "dense": 8},
    "roberta": {"pooling_mode": ["lasttoken", "mean_sqrt_len_tokens"], "dense": 8, "normalize": True},
}


def save_modules(directory: Path, chosen: dict) -> None:
    """The files of sentence-transformers, as they lie on the hub."""
    pooling = {name: value for name, value in chosen.items() if name.startswith("pooling")}
    width = SIZE["hidden_size"] * (len(pooling["pooling_mode"]) if "pooling_mode" in pooling else 1)
    modules = [("", "Transformer"), ("1_Pooling", "Pooling")]
    write_json(directory / "1_Pooling" / "config.json", {"word_embedding_dimension": SIZE["hidden_size"], **pooling})
    if "dense" in chosen:
        modules.append(("2_Dense", "Dense"))
        config = {"in_features": width, "out_features": chosen["dense"], "bias": True,
                  "activation_function": "torch.nn.modules.activation.Tanh"}  # fmt: skip
        write_json(directory / "2_Dense" / "config.json", config)
        linear = torch.nn.Linear(width, chosen["dense"])
        tensors = {f"linear.{name}": tensor.detach() for name, tensor in linear.state_dict().items()}
        safetensors.torch.save_file(tensors, directory / "2_Dense" / "model.safetensors")
    if "normalize" in chosen:
        modules.append(("3_Normalize", "Normalize"))
        write_json(directory / "3_Normalize" / "config.json", {})
    list_modules(directory, [(path, f"sentence_transformers.models.{name}") for path, name in modules])
    write_json(directory / "sentence_bert_config.json", {"max_seq_length": LONGEST - 8, "do_lower_case": False})


def list_modules(directory: Path, modules: list[tuple[str, str]]) -> None:
    listed = [
        {"idx": index, "name": str(index), "path": path, "type": kind} for index, (path, kind) in enumerate(modules)
    ]
    write_json(directory / "modules.json", listed)


# As published: by older and newer versions of sentence-transformers, and with a table for queries.
SPLADES = {
    "bert": {"encoder": "MLMTransformer"},
    "distilbert": {"encoder": "MLMTransformer", "activation_function": "log1p_relu", "table": True},
    "roberta": {"encoder": "Transformer", "pooling_strategy": "sum"},
}


SPARSE = "sentence_transformers.sparse_encoder.models."
STATIC = "query_0_SparseStaticEmbedding"


def save_splade(directory: Path, encoder: str = "MLMTransformer", table: bool = False, **pooling) -> None:
    """The files of a SparseEncoder, as they lie on the hub."""
    behind = "document_1_SpladePooling" if table else "1_SpladePooling"
    modules = [("", SPARSE + encoder), (behind, f"{SPARSE}SpladePooling")]
    write_json(directory / behind / "config.json", {"word_embedding_dimension": None, **pooling})
    task = {"transformer_task": "fill-mask"} if encoder == "Transformer" else {}
    settings = {"max_seq_length": LONGEST - 8, "do_lower_case": False, **task}
    write_json(directory / "sentence_bert_config.json", settings)
    write_json(directory / "config_sentence_transformers.json", {"model_type": "SparseEncoder", "prompts": {}})
    if not table:
        list_modules(directory, modules)
        return
    list_modules(directory, [("", "sentence_transformers.models.Router")])
    router = {
        "types": {STATIC: f"{SPARSE}SparseStaticEmbedding", **dict(modules)},
        "structure": {"query": [STATIC], "document": [name for name, _ in modules]},
        "parameters": {"default_route": "document", "allow_empty_key": True},
    }
    write_json(directory / "router_config.json", router)
    write_json(directory / STATIC / "config.json", {"frozen": True})
    tokenizer = transformers.AutoTokenizer.from_pretrained(directory)
    tokenizer.save_pretrained(directory / STATIC)
    safetensors.torch.save_file({"weight": weights_of_queries(len(tokenizer))}, directory / STATIC / "model.safetensors")


def weights_of_queries(count: int) -> torch.Tensor:
    """A weight a token, rare ones larger, a quarter of them 0."""
    return (torch.arange(count) % 4) * torch.linspace(0.1, 2, count)


def write_json(path: Path, value) -> None:
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(value), encoding="utf-8")
