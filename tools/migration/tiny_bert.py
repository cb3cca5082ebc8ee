"""A BERT of one layer and random weights, with a vocabulary of a few words, as `save_pretrained` leaves it."""

import json
import string
from pathlib import Path

import tokenizers
import torch
import transformers
from tokenizers import models, normalizers, pre_tokenizers, processors

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
WORDS = "a an the it this that is was not and but of to in so very good great bad awful film book food baker cat"
LONGEST = 32


def save(directory: Path, kind: type, **more: object) -> None:
    torch.manual_seed(7)
    pieces = [*string.ascii_lowercase, *("##" + letter for letter in string.ascii_lowercase), *".,?!"]
    vocabulary = list(dict.fromkeys([*SPECIAL, *WORDS.split(), *pieces]))
    config = transformers.BertConfig(
        vocab_size=len(vocabulary), hidden_size=16, num_hidden_layers=1, num_attention_heads=2, intermediate_size=32,
        max_position_embeddings=LONGEST, initializer_range=0.5, **more,
    )  # fmt: skip
    kind(config).eval().save_pretrained(directory)
    numbers = {word: number for number, word in enumerate(vocabulary)}
    tokenizer = tokenizers.Tokenizer(models.WordPiece(numbers, unk_token="[UNK]"))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(directory / "tokenizer.json"))
    (directory / "vocab.txt").write_text("\n".join(vocabulary) + "\n", encoding="utf-8")
    settings = {"tokenizer_class": "BertTokenizer", "do_lower_case": True, "model_max_length": LONGEST}
    (directory / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
