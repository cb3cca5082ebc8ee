"""Makes the small tokenizers of the Java tests, and what Python's `tokenizers` answers with them.

    python trace/tokenizer_fixtures.py --output src/test/resources/tokenizers --bert model-artifact/tokenizer.json

`byte-level-bpe` is of RoBERTa's kind, `unigram` of XLM-RoBERTa's, both trained on the sentences below. `bert` has only what
is expected of the sample's own tokenizer. The tests compare with `expected.json.gz`, so the files belong together.

Run it with tokenizers 0.22. Version 0.23 cuts long texts before it counts their tokens: `longest_first` may then keep one
token more of the other text, and words are counted from the cut.
"""

import argparse
import gzip
import json
from pathlib import Path

from tokenizers import AddedToken, Encoding, Tokenizer, decoders, models, normalizers, pre_tokenizers, processors, trainers

SENTENCES = [
    "The quick brown fox jumps over the lazy dog.",
    "Marie Curie was born in Warsaw. She discovered radium and polonium in Paris.",
    "It doesn't matter, they've said; we're not in a hurry!",
    "naïve café, Zürich, smörgåsbord",
    "東京タワーは、1958年12月23日に完成した。",
    "A tokenizer makes tokens of texts, and texts of tokens.",
]

# Empty and blank texts, marks that combine, characters beyond the Basic Multilingual Plane, special tokens as text.
TEXTS = [
    "",
    " ",
    "Who came?",
    "Marie Curie was born in Warsaw, not in Zürich.",
    "  two  spaces and\ta tab ",
    "smile 😀 and 𝒳 then more",
    "cafe\u0301 café ﬁne Ⅻ",
    "東京タワーは完成した。",
    "[SEP] and </s> are special",
    "It doesn't matter, they've said; we're not in a hurry!",
    "unknowable: \u16a0\u16a1",
]
PAIRS = [
    ("Where was she born?", "Marie Curie was born in Warsaw. She discovered radium and polonium in Paris."),
    ("The quick brown fox jumps over the lazy dog.", "Who came? 😀 Bob"),
    ("", "only the second"),
    ("only the first", ""),
    ("Who came?", "Bob came."),
]
LENGTHS = [4, 7, 8, 13]
STRATEGIES = ["longest_first", "only_first", "only_second"]


def byte_level_bpe() -> Tokenizer:
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.BpeTrainer(
        vocab_size=400, special_tokens=special, initial_alphabet=pre_tokenizers.ByteLevel.alphabet(), show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES * 3, trainer)
    tokenizer.add_special_tokens([AddedToken("<mask>", lstrip=True, normalized=False)])
    tokenizer.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0), trim_offsets=True)
    return tokenizer


def unigram() -> Tokenizer:
    tokenizer = Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Replace(" {2,}", " ")])
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    trainer = trainers.UnigramTrainer(vocab_size=120, special_tokens=special, unk_token="<unk>", show_progress=False)
    tokenizer.train_from_iterator(SENTENCES * 3, trainer)
    tokenizer.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    return tokenizer


def utf16(text: str, place: int) -> int:
    """Where a place in code points is in a Java string."""
    return len(text[:place].encode("utf-16-le")) // 2


def expected(encoding: Encoding, texts: list[str]) -> dict:
    offsets = [
        [0, 0] if sequence is None else [utf16(texts[sequence], place) for place in offset]
        for sequence, offset in zip(encoding.sequence_ids, encoding.offsets, strict=True)
    ]
    return {
        "ids": encoding.ids,
        "typeIds": encoding.type_ids,
        "attentionMask": encoding.attention_mask,
        "specialTokensMask": encoding.special_tokens_mask,
        "offsets": offsets,
        "words": [-1 if word is None else word for word in encoding.word_ids],
        "sequences": [-1 if sequence is None else sequence for sequence in encoding.sequence_ids],
    }


def truncated(tokenizer: Tokenizer, text: str, pair: str, length: int, strategy: str, side: str) -> dict | None:
    tokenizer.enable_truncation(length, strategy=strategy, direction=side)
    try:
        encoding = tokenizer.encode(text, pair)
    except Exception:  # It refuses what the strategy can't shorten enough, by an exception without a type of its own.
        encoding = None
    finally:
        tokenizer.no_truncation()
    case = {"text": text, "pair": pair, "length": length, "strategy": strategy, "side": side}
    # With less than the special tokens there is nothing to compare: the library gives more than was asked for.
    return case | {"expected": expected(encoding, [text, pair]) if encoding and len(encoding) <= length else None}


def cases(tokenizer: Tokenizer, pad: tuple[int, str], pad_side: str) -> dict:
    tokenizer.no_truncation()
    tokenizer.no_padding()
    single = [{"text": text, "expected": expected(tokenizer.encode(text), [text])} for text in TEXTS]
    pairs = [{"text": a, "pair": b, "expected": expected(tokenizer.encode(a, b), [a, b])} for a, b in PAIRS]
    shortened = [
        truncated(tokenizer, text, pair, length, strategy, side)
        for text, pair in PAIRS
        for length in LENGTHS
        for strategy in STRATEGIES
        for side in ["right", "left"]
    ]
    decoded = [
        {"ids": ids, "text": tokenizer.decode(ids, skip_special_tokens=False), "plain": tokenizer.decode(ids)}
        for ids in [tokenizer.encode(text).ids for text in TEXTS]
    ]
    tokenizer.enable_padding(direction=pad_side, pad_id=pad[0], pad_token=pad[1])
    batch = [expected(encoding, [text]) for encoding, text in zip(tokenizer.encode_batch(TEXTS), TEXTS, strict=True)]
    tokenizer.no_padding()
    return {"single": single, "pairs": pairs, "truncated": shortened, "decoded": decoded, "batch": {"texts": TEXTS, "expected": batch}}


def write(directory: Path, tokenizer: Tokenizer, config: dict, own: bool) -> None:
    directory.mkdir(parents=True, exist_ok=True)
    pad = config["pad_token"]["content"] if isinstance(config["pad_token"], dict) else config["pad_token"]
    result = cases(tokenizer, (tokenizer.token_to_id(pad), pad), config.get("padding_side", "right"))
    if own:
        tokenizer.save(str(directory / "tokenizer.json"), pretty=False)
        (directory / "tokenizer_config.json").write_text(json.dumps(config, indent=2) + "\n")
    text = json.dumps(result, ensure_ascii=True, separators=(",", ":")) + "\n"
    (directory / "expected.json.gz").write_bytes(gzip.compress(text.encode(), mtime=0))


def main() -> None:
    parser = argparse.ArgumentParser(description="Make the tokenizers of the Java tests.")
    parser.add_argument("--output", type=Path, required=True)
    parser.add_argument("--bert", type=Path, required=True, help="the sample's tokenizer.json")
    arguments = parser.parse_args()
    write(arguments.output / "bert", Tokenizer.from_file(str(arguments.bert)), {"pad_token": "[PAD]"}, own=False)
    bpe = {"model_max_length": 64, "pad_token": "<pad>"}
    write(arguments.output / "byte-level-bpe", byte_level_bpe(), bpe, own=True)
    left = {"model_max_length": 1000000000000000019884624838656, "pad_token": {"content": "<pad>"}, "padding_side": "left"}
    write(arguments.output / "unigram", unigram(), left, own=True)


if __name__ == "__main__":
    main()
