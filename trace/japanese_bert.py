"""Makes a tokenizer.json of what BertJapaneseTokenizer is stored as: vocab.txt and settings.

BertJapaneseTokenizer cuts words first, with MeCab or at spaces and punctuation, and then each word into pieces of its
vocabulary or into characters. A tokenizer.json can say all of it but MeCab; `japanese_words.py` does that.
"""

import json
from pathlib import Path

import tokenizers
from tokenizers import Regex, decoders, models, normalizers, pre_tokenizers, processors

from refused import Refused

NAME = "BertJapaneseTokenizer"
SETTINGS = ("tokenizer_config.json", "config.json")
DEFAULTS = {
    "do_word_tokenize": True,
    "do_subword_tokenize": True,
    "word_tokenizer_type": "basic",
    "subword_tokenizer_type": "wordpiece",
    "do_lower_case": False,
    "never_split": None,
    "mecab_kwargs": None,
    "unk_token": "[UNK]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "cls_token": "[CLS]",
    "mask_token": "[MASK]",
}
SPECIAL = ("unk_token", "sep_token", "pad_token", "cls_token", "mask_token")
WORDS = ("mecab", "basic")
SUBWORDS = ("wordpiece", "character")

# Python's white space that Rust's is not.
SEPARATORS = normalizers.Replace(Regex("[\\x1c-\\x1f]"), " ")
EACH_CHARACTER = pre_tokenizers.Split(Regex("[\\s\\S]"), "isolated")


def japanese_settings(model: str, files: list[Path | None]) -> dict | None:
    """The settings of a BertJapaneseTokenizer, the defaults included; None for any other tokenizer.

    Old models have no `tokenizer_class`, or have it in config.json only: then the kind of words tells. `files` are
    those of SETTINGS.
    """
    stored = [json.loads(file.read_text(encoding="utf-8")) if file else {} for file in files]
    declared = next((found["tokenizer_class"] for found in stored if found.get("tokenizer_class")), None)
    settings = {name: found[name] for found in reversed(stored) for name in DEFAULTS if name in found}
    has_words = any(name in settings for name in ("word_tokenizer_type", "subword_tokenizer_type"))
    if declared != NAME and not has_words:
        return None
    checked = DEFAULTS | settings
    expected = {
        "do_word_tokenize": (True,),
        "do_subword_tokenize": (True,),
        "word_tokenizer_type": WORDS,
        "subword_tokenizer_type": SUBWORDS,
        "never_split": (None, []),
    }
    for name, values in expected.items():
        if checked[name] not in values:
            raise Refused(
                f"--model {model}: {name}: found {checked[name]!r}, expected {' or '.join(map(repr, values))}; "
                "other ways to cut Japanese are not supported"
            )
    return checked


def tokenizer_json(settings: dict, vocabulary_file: Path) -> dict:
    """What cuts as BertJapaneseTokenizer does; where MeCab cuts the words, what does so with each of them."""
    lines = vocabulary_file.read_text(encoding="utf-8").split("\n")
    vocabulary = {token: id for id, token in enumerate(lines if lines[-1] else lines[:-1])}
    special = {name: content(settings[name]) for name in SPECIAL}
    missing = [token for token in special.values() if token not in vocabulary]
    if missing:
        raise Refused(f"vocab.txt: has no line {missing[0]}, which is a special token of the model")

    by_characters = settings["subword_tokenizer_type"] == "character"
    unknown = special["unk_token"]
    tokenizer = tokenizers.Tokenizer(
        models.WordLevel(vocabulary, unknown) if by_characters else models.WordPiece(vocabulary, unk_token=unknown)
    )
    if settings["word_tokenizer_type"] == "mecab":
        if by_characters:
            # Also where the words are not normalised.
            tokenizer.normalizer = normalizers.NFKC()
            tokenizer.pre_tokenizer = EACH_CHARACTER
        else:
            tokenizer.normalizer = SEPARATORS
            tokenizer.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    else:
        tokenizer.normalizer, tokenizer.pre_tokenizer = basic_words(settings["do_lower_case"], by_characters)
    if not by_characters:
        tokenizer.decoder = decoders.WordPiece()
    classification, separator = special["cls_token"], special["sep_token"]
    tokenizer.post_processor = processors.TemplateProcessing(
        single=f"{classification} $A {separator}",
        pair=f"{classification} $A {separator} $B:1 {separator}:1",
        special_tokens=[(token, vocabulary[token]) for token in (classification, separator)],
    )
    tokenizer.add_special_tokens(list(special.values()))
    return json.loads(tokenizer.to_str())


def basic_words(lower_case: bool, by_characters: bool) -> tuple[normalizers.Normalizer, pre_tokenizers.PreTokenizer]:
    """White space and punctuation part words, ideographs do not.

    Characters are those of NFKC, which makes some that hold a space, such as `゛`. BertJapaneseTokenizer takes that
    space for an unknown character, and drops only those of the text. The latter are line breaks here, after the
    cleaning that leaves none. Each character is then a word of its own: what the words were changes nothing.
    """
    clean = [
        normalizers.NFC(),
        normalizers.BertNormalizer(clean_text=True, handle_chinese_chars=False, lowercase=lower_case),
    ]
    if not by_characters:
        return normalizers.Sequence(clean), pre_tokenizers.BertPreTokenizer()
    return (
        normalizers.Sequence([*clean, normalizers.Replace(" ", "\n"), normalizers.NFKC()]),
        pre_tokenizers.Sequence([pre_tokenizers.Split("\n", "removed"), EACH_CHARACTER]),
    )


def content(token: str | dict) -> str:
    """A special token is stored as its text, or as an object with it."""
    return token["content"] if isinstance(token, dict) else token
