"""Reads or makes a model's tokenizer.json, and reads off it what the server must know."""

import base64
import importlib.util
import json
import unicodedata
from pathlib import Path

import tokenizers
import transformers

import japanese_bert
from examples import ENGLISH, JAPANESE
from refused import Refused, first_line

SENTENCEPIECE_FILES = ["spiece.model", "sentencepiece.bpe.model", "spm.model", "tokenizer.model"]

# WordPiece, BPE.
VOCABULARIES = [["vocab.txt"], ["vocab.json", "merges.txt"]]

# The beginnings of Unicode names in scripts that put no spaces between words.
WRITTEN_WITHOUT_SPACES = (
    "CJK ", "HIRAGANA", "KATAKANA", "HALFWIDTH KATAKANA", "IDEOGRAPHIC", "THAI", "LAO", "KHMER", "MYANMAR", "TIBETAN"
)  # fmt: skip

# No spaces and no punctuation: Japanese, Chinese.
UNSPACED_SENTENCES = ["東京は日本の首都です", "北京是中国的首都"]


def load_tokenizer_json(model: str, vocabulary_size: int) -> dict:
    """The tokenizer as it is stored, else made from its vocabulary.

    That of a BertJapaneseTokenizer is always made: what lies beside it would cut the words otherwise.

    It neither truncates nor pads: the server cuts and pads by itself.
    """
    japanese = japanese_settings(model)
    stored = find(model, "tokenizer.json")
    if japanese:
        source = convert_japanese(model, japanese)
    else:
        source = read(stored) if stored else convert(model)
    return without_foreign_tokens(source, vocabulary_size) | {"truncation": None, "padding": None}


def read(stored: Path) -> dict:
    text = stored.read_text(encoding="utf-8")
    try:
        tokenizers.Tokenizer.from_str(text)
    except Exception as error:
        raise Refused(
            f"tokenizer.json: tokenizers {tokenizers.__version__} can't read it: {first_line(error)}"
        ) from error
    return json.loads(text)


def find(model: str, name: str) -> Path | None:
    """A file of the model, downloaded where it must be; None where there is none."""
    try:
        found = transformers.utils.cached_file(model, name)
    except OSError:
        return None
    return Path(found) if found else None


def convert(model: str) -> dict:
    """Makes a tokenizer.json with transformers, and compares it with SentencePiece where that made the vocabulary."""
    source = next((file for name in SENTENCEPIECE_FILES if (file := find(model, name))), None)
    if source is None and not any(all(find(model, name) for name in names) for names in VOCABULARIES):
        raise Refused(
            f"--model {model}: has no tokenizer.json and nothing to make one from, "
            "expected vocab.txt, vocab.json with merges.txt, or a SentencePiece file such as spiece.model"
        )
    if source is not None:
        for package, module in {"sentencepiece": "sentencepiece", "protobuf": "google.protobuf"}.items():
            if not is_installed(module):
                raise Refused(
                    f"--model {model}: its only tokenizer is {source.name}, and {package} is not installed to read it: "
                    "pip install sentencepiece protobuf"
                )
    try:
        tokenizer = transformers.AutoTokenizer.from_pretrained(model)
    except Exception as error:
        raise Refused(
            f"--model {model}: no tokenizer.json can be made from its tokenizer: {first_line(error)}"
        ) from error
    if not tokenizer.is_fast:
        raise Refused(
            f"--model {model}: its tokenizer, a {type(tokenizer).__name__}, has no form as a tokenizer.json; "
            "take a model with a WordPiece, BPE or SentencePiece tokenizer"
        )
    converted = json.loads(tokenizer.backend_tokenizer.to_str())
    return like_sentencepiece(converted, source) if source is not None else converted


def is_installed(module: str) -> bool:
    try:
        return importlib.util.find_spec(module) is not None
    except ModuleNotFoundError:
        return False


def japanese_settings(model: str) -> dict | None:
    """The settings of a BertJapaneseTokenizer; None for any other."""
    return japanese_bert.japanese_settings(model, [find(model, name) for name in japanese_bert.SETTINGS])


def convert_japanese(model: str, settings: dict) -> dict:
    vocabulary = find(model, "vocab.txt")
    if vocabulary is None:
        raise Refused(f"--model {model}: has no vocab.txt, which its {japanese_bert.NAME} needs")
    return japanese_bert.tokenizer_json(settings, vocabulary)


def like_sentencepiece(converted: dict, source: Path) -> dict:
    """Mends what transformers 5 gets wrong, and refuses a tokenizer that still cuts otherwise than SentencePiece."""
    import sentencepiece

    original = sentencepiece.SentencePieceProcessor(model_file=str(source))
    mended = with_normalisation(with_unknown_token(converted, original), original)
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(mended))
    for text in [text for example in ENGLISH.examples + JAPANESE.examples for text in example] + ["龘 😀 Ω １"]:
        # Some tokenizers also put text in lower case or take its accents away.
        normalised = tokenizer.normalizer.normalize_str(text) if tokenizer.normalizer else text
        expected = [tokenizer.token_to_id(original.id_to_piece(id)) for id in original.encode(normalised)]
        if tokenizer.encode(text, add_special_tokens=False).ids != expected:
            raise Refused(
                f"{source.name}: the tokenizer.json that transformers {transformers.__version__} makes from it "
                f"cuts {text!r} otherwise than SentencePiece; save a tokenizer.json beside the model"
            )
    return mended


def with_unknown_token(converted: dict, original) -> dict:
    """transformers 5.18 writes fixed ids for the unknown token of T5 and ALBERT, whatever they stand for here."""
    pieces = [piece for piece, _ in converted["model"]["vocab"]] if converted["model"]["type"] == "Unigram" else []
    unknown = original.id_to_piece(original.unk_id())
    if unknown not in pieces:
        return converted
    return converted | {"model": converted["model"] | {"unk_id": pieces.index(unknown)}}


def with_normalisation(converted: dict, original) -> dict:
    """transformers 5.18 leaves out what DeBERTa's SentencePiece file makes of full-width digits and the like."""
    if '"Precompiled"' in json.dumps(converted["normalizer"]):
        return converted
    from sentencepiece import sentencepiece_model_pb2

    description = sentencepiece_model_pb2.ModelProto.FromString(original.serialized_model_proto())
    table = description.normalizer_spec.precompiled_charsmap
    if not table:
        return converted
    first = {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(table).decode()}
    rest = [converted["normalizer"]] if converted["normalizer"] else []
    return converted | {"normalizer": {"type": "Sequence", "normalizers": [first, *rest]}}


def without_foreign_tokens(source: dict, vocabulary_size: int) -> dict:
    """Leaves out added tokens that the model has no embedding for: a text that holds one would fail."""
    added = [token for token in source.get("added_tokens", []) if token["id"] < vocabulary_size]
    kept = source | {"added_tokens": added} if "added_tokens" in source else source
    largest = max(tokenizers.Tokenizer.from_str(json.dumps(kept)).get_vocab().values(), default=0)
    if largest >= vocabulary_size:
        raise Refused(
            f"tokenizer.json: holds the token id {largest}, and the model's vocabulary ends at {vocabulary_size - 1}"
        )
    return kept


def lower_case(source: dict) -> dict:
    """The tokenizer with texts in lower case before anything else, as sentence-transformers makes it."""
    normalizers = [{"type": "Lowercase"}] + ([source["normalizer"]] if source.get("normalizer") else [])
    return source | {"normalizer": {"type": "Sequence", "normalizers": normalizers}}


def unknown_id(source: dict) -> int | None:
    """The id of the unknown token in a tokenizer.json; None where there is none, as in byte-level BPE."""
    if source["model"].get("unk_id") is not None:
        return source["model"]["unk_id"]
    token = source["model"].get("unk_token")
    return tokenizers.Tokenizer.from_str(json.dumps(source)).token_to_id(token) if token else None


def pair_template(tokenizer: tokenizers.Tokenizer, padding: int) -> dict:
    """The special tokens around a question and its context, read off a pair that the tokenizer has encoded."""
    encoding = tokenizer.encode("question", "context")
    sequences = encoding.sequence_ids
    if 0 not in sequences or 1 not in sequences or sequences.index(0) > sequences.index(1):
        raise Refused("tokenizer.json: a pair is not encoded as question, then context")
    question = sequences.index(0)
    context = sequences.index(1)
    question_end = len(sequences) - sequences[::-1].index(0)
    context_end = len(sequences) - sequences[::-1].index(1)
    question_type = encoding.type_ids[question]
    context_type = encoding.type_ids[context]
    if encoding.type_ids != [question_type] * context + [context_type] * (len(sequences) - context):
        raise Refused(
            f"tokenizer.json: the token types of a pair are {encoding.type_ids}, "
            f"expected {question_type} up to the context and {context_type} from there on"
        )
    return {
        "before": encoding.ids[:question],
        "between": encoding.ids[question_end:context],
        "after": encoding.ids[context_end:],
        "padding": padding,
        "questionType": question_type,
        "contextType": context_type,
    }


def default_parameters(tokenizer: tokenizers.Tokenizer) -> dict:
    """What requests should choose for this tokenizer unless they say otherwise.

    Answers are widened to whole words of the pre-tokenizer. Many take an unspaced sentence for one word, so that every
    answer would be a whole sentence.
    """
    if is_of_unspaced_scripts(tokenizer) and any(is_one_word(tokenizer, text) for text in UNSPACED_SENTENCES):
        return {"align_to_words": False}
    return {}


def is_one_word(tokenizer: tokenizers.Tokenizer, sentence: str) -> bool:
    return len(set(tokenizer.encode(sentence, add_special_tokens=False).word_ids)) == 1


def is_of_unspaced_scripts(tokenizer: tokenizers.Tokenizer) -> bool:
    """Whether most letters of the vocabulary belong to scripts written without spaces."""
    # Decoded, because byte-level BPE spells its tokens in letters that stand for bytes.
    tokens = tokenizer.decode_batch([[id] for id in sorted(tokenizer.get_vocab().values())])
    letters = [letter for token in tokens for letter in token if letter.isalpha()]
    unspaced = sum(unicodedata.name(letter, "").startswith(WRITTEN_WITHOUT_SPACES) for letter in letters)
    return unspaced * 2 > len(letters)
