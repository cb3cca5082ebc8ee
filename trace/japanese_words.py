"""Words of Japanese as MeCab cuts them, in front of a tokenizer that has none of its own.

The server cuts words with MeCab's dictionary by itself. Here MeCab does: to answer the sample, and to trace with words
that are real.
"""

import importlib
import importlib.util
import json
import os
import shutil
import subprocess
import unicodedata
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import tokenizers

from refused import Refused, last_line

# Where the dictionary stands in the artifact, and in tokenizer.json what says so.
DIRECTORY = "mecab"
KEY = "words"

# What MeCab and the server read, and what the licences of dictionaries ask for.
FILES = ("sys.dic", "unk.dic", "matrix.bin", "char.bin", "dicrc")
NOTICES = ("COPYING*", "LICENSE*", "AUTHORS*", "BSD*")

# The Python packages of transformers' dictionaries. They bear the same names.
PACKAGES = ("ipadic", "unidic_lite", "unidic")
DEFAULT_DICTIONARY = "unidic_lite"

CHARSET = slice(40, 72)


class Words(NamedTuple):
    """What tokenizer.json says of the words, and the dictionary that they are of."""

    description: dict
    dictionary: Path

    def files(self) -> dict[str, Path]:
        """What is put into the artifact, by its name there."""
        notices = [file for pattern in NOTICES for file in sorted(self.dictionary.glob(pattern)) if file.is_file()]
        files = [self.dictionary / name for name in FILES] + notices
        return {f"{DIRECTORY}/{file.name}": file for file in files}


def words(model: str, settings: dict, chosen: Path | None) -> Words:
    """The words of a model whose settings name MeCab; `chosen` is a dictionary's directory."""
    options = settings["mecab_kwargs"] or {}
    if options.get("mecab_option"):
        raise Refused(
            f"--model {model}: mecab_kwargs.mecab_option: found {options['mecab_option']!r}, expected none; "
            "name the dictionary's directory with --mecab-dictionary"
        )
    name = options.get("mecab_dic", DEFAULT_DICTIONARY)
    dictionary = chosen or package_directory(model, name)
    check(dictionary)
    description = {
        "cutter": "mecab",
        "dictionary": name or dictionary.resolve().name,
        "directory": DIRECTORY,
        "normalize": bool(options.get("normalize_text", True)),
        "lowercase": bool(settings["do_lower_case"]),
    }
    return Words(description, dictionary)


def package_directory(model: str, name: str | None) -> Path:
    if name not in PACKAGES:
        raise Refused(
            f"--model {model}: mecab_kwargs.mecab_dic: found {name!r}, expected {', '.join(PACKAGES)}; "
            "name the dictionary's directory with --mecab-dictionary"
        )
    if importlib.util.find_spec(name) is None:
        raise Refused(
            f"--model {model}: its words are of MeCab's dictionary {name}, which is not installed: "
            f"pip install {name.replace('_', '-')}, or name its directory with --mecab-dictionary"
        )
    return Path(importlib.import_module(name).DICDIR)


def check(dictionary: Path) -> None:
    """Refuses what the server could not read, or would read otherwise."""
    missing = [name for name in FILES if not (dictionary / name).is_file()]
    if missing:
        raise Refused(
            f"{dictionary}: is no compiled dictionary of MeCab, it has no {missing[0]}; "
            "for unidic, python -m unidic download gets it"
        )
    with (dictionary / "sys.dic").open("rb") as file:
        charset = file.read(CHARSET.stop)[CHARSET].rstrip(b"\0").decode(errors="replace")
    if charset.lower() not in ("utf-8", "utf8"):
        raise Refused(f"{dictionary}/sys.dic: found a dictionary in {charset}, expected one in UTF-8")
    if "max-grouping-size" in (dictionary / "dicrc").read_text(encoding="utf-8", errors="replace"):
        raise Refused(f"{dictionary}/dicrc: sets max-grouping-size, which the server does not know")


def cutter(dictionary: Path) -> Callable[[str], list[str]]:
    """MeCab by fugashi, as in transformers, or by its own program. Neither is installed with the tracer."""
    if importlib.util.find_spec("fugashi") is not None:
        tagger = importlib.import_module("fugashi").GenericTagger(f'-r "{os.devnull}" -d "{dictionary}"')
        return lambda text: [word.surface for word in tagger(text)]
    program = shutil.which("mecab")
    if program is None:
        raise Refused("the model's words are cut by MeCab, which is not installed: pip install fugashi")
    return lambda text: run(program, dictionary, text)


def run(program: str, dictionary: Path, text: str) -> list[str]:
    """The words of a text as one line: for MeCab a line break is white space, for its program the end of the text."""
    line = text.replace("\n", " ").encode()
    # The dictionary's own format goes, and what is longer than the buffer would be cut.
    form = ["-O", "", "-F", "%m\n", "-U", "%m\n", "-E", "", "-b", str(len(line) + 1024)]
    result = subprocess.run(
        [program, "-r", os.devnull, "-d", str(dictionary), *form], input=line + b"\n", capture_output=True, check=False
    )
    if result.returncode != 0:
        raise Refused(f"{program}: fails with {dictionary}: {last_line(Exception(result.stderr.decode()))}")
    return result.stdout.decode().split("\n")[:-1]


class Normalised(NamedTuple):
    """A text as MeCab is given it, with the places in the original that each of its characters stands for."""

    text: str
    places: list[tuple[int, int]]

    @staticmethod
    def of(text: str, normalize: bool) -> "Normalised":
        characters, places = [], []
        start = 0
        while start < len(text):
            end = start + 1
            while end < len(text) and combines(text[end]):
                end += 1
            part = unicodedata.normalize("NFKC", text[start:end]) if normalize else text[start:end]
            characters.append(part)
            places += [(start, end)] * len(part)
            start = end
        return Normalised("".join(characters), places)


def combines(character: str) -> bool:
    """Whether it may become one with those before it, or change places: marks, sound marks of half width, Hangul."""
    return (
        unicodedata.category(character).startswith("M")
        or character in "\uff9e\uff9f"
        or any(first <= character <= last for first, last in ("\u1160\u11ff", "\u3131\u318e", "\uffa0\uffdc"))
    )


class Encoding:
    """What tokenizers' own Encoding says of tokens; that one can't be given other places."""

    def __init__(self, found: tokenizers.Encoding, places: list[list[list[tuple[int, int]]]]):
        """`places` are those of the characters of each word of each sequence."""
        self.found = found
        self.places = places
        self.ids, self.type_ids, self.attention_mask = found.ids, found.type_ids, found.attention_mask
        self.sequence_ids, self.word_ids = found.sequence_ids, found.word_ids
        self.offsets = [self.place(*token) for token in zip(self.sequence_ids, self.word_ids, found.offsets)]
        self.overflowing = [Encoding(window, places) for window in found.overflowing]

    def place(self, sequence: int | None, word: int | None, offsets: tuple[int, int]) -> tuple[int, int]:
        if sequence is None:
            return 0, 0
        places = self.places[sequence][word]
        return places[min(offsets[0], len(places) - 1)][0], places[min(offsets[1], len(places)) - 1][1]

    def token_to_word(self, token: int) -> int | None:
        return self.word_ids[token]

    def word_to_chars(self, word: int, sequence: int) -> tuple[int, int]:
        """The characters of the word's tokens in this row, which may be a window."""
        tokens = zip(self.sequence_ids, self.word_ids, self.offsets)
        offsets = [place for of, in_word, place in tokens if (of, in_word) == (sequence, word)]
        return offsets[0][0], offsets[-1][1]

    def __len__(self) -> int:
        return len(self.ids)

    def truncate(self, length: int) -> None:
        for name in ("ids", "type_ids", "attention_mask", "sequence_ids", "word_ids", "offsets"):
            setattr(self, name, getattr(self, name)[:length])


class WordTokenizer:
    """A tokenizer whose words are MeCab's; like tokenizers.Tokenizer where the tracer uses that."""

    def __init__(self, tokenizer: tokenizers.Tokenizer, description: dict, dictionary: Path):
        self.tokenizer = tokenizer
        self.normalize, self.lowercase = description["normalize"], description["lowercase"]
        self.cut = cutter(dictionary)
        self.special = sorted(
            (token.content for token in tokenizer.get_added_tokens_decoder().values()), key=len, reverse=True
        )

    def __getattr__(self, name: str):
        return getattr(self.tokenizer, name)

    def encode(self, text: str, pair: str | None = None, add_special_tokens: bool = True) -> Encoding:
        sequences = [self.words(sequence) for sequence in ([text] if pair is None else [text, pair])]
        texts = [[word for word, _ in sequence] for sequence in sequences]
        found = self.tokenizer.encode(*texts, is_pretokenized=True, add_special_tokens=add_special_tokens)
        return Encoding(found, [[places for _, places in sequence] for sequence in sequences])

    def post_process(self, first: Encoding, second: Encoding) -> Encoding:
        return Encoding(self.tokenizer.post_process(first.found, second.found), [first.places[0], second.places[0]])

    def words(self, text: str) -> list[tuple[str, list[tuple[int, int]]]]:
        """The words as they are looked up, each with the places of its characters; special tokens are words."""
        words = []
        start = 0
        for end, token in [*self.special_tokens(text), (len(text), "")]:
            words += self.plain_words(text[start:end], start)
            if token:
                words.append((token, [(end + i, end + i + 1) for i in range(len(token))]))
            start = end + len(token)
        return words

    def special_tokens(self, text: str) -> list[tuple[int, str]]:
        found = []
        place = 0
        while place < len(text):
            token = next((token for token in self.special if text.startswith(token, place)), "")
            if token:
                found.append((place, token))
            place += len(token) or 1
        return found

    def plain_words(self, text: str, offset: int) -> list[tuple[str, list[tuple[int, int]]]]:
        normalised = Normalised.of(text, self.normalize)
        words = []
        end = 0
        for word in self.cut(normalised.text):
            # MeCab leaves out white space.
            start = normalised.text.index(word, end)
            end = start + len(word)
            places = [(first + offset, last + offset) for first, last in normalised.places[start:end]]
            words.append((word.lower() if self.lowercase else word, places))
        return words


def load_tokenizer(file: Path) -> "tokenizers.Tokenizer | WordTokenizer":
    """The tokenizer of an artifact."""
    source = json.loads(file.read_text(encoding="utf-8"))
    description = source.pop(KEY, None)
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(source))
    return WordTokenizer(tokenizer, description, file.parent / description["directory"]) if description else tokenizer
