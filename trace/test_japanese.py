"""Japanese BERTs: their tokenizers compared with transformers' own, and what of them is refused."""

import gzip
import json
import random
import shutil
import subprocess
import sys
import types
import unicodedata
from pathlib import Path

import pytest
import tokenizers
import transformers

import japanese_artifact
import japanese_bert
import japanese_dictionary
import japanese_words
import tiny_models
import tokenizer as tokenizing

RESOURCES = Path(__file__).resolve().parent.parent / "src" / "test" / "resources" / "mecab"
DICTIONARY = RESOURCES / "tiny"

needs_mecab = pytest.mark.skipif(
    shutil.which("mecab") is None and not tokenizing.is_installed("fugashi"),
    reason="needs MeCab: pip install fugashi, or apt-get install mecab",
)

SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
ODD = [
    "",
    " ",
    "゛￣ ¨´ ㍿①ﾎﾟﾁ ガ か\u3099 e\u0301",
    "a\u2028b\x1cc\x85d\u00a0e\u3000f\tg\nh",
    "[MASK]は[SEP] ［ＳＥＰ］ [mask]",
    "ÀÉÎ İstanbul ΣΑ ＡＢＣ № ㏂ 𝚺",
    "龘😀👩‍👩‍👧𠮷" + "x" * 120,
]


def sentences() -> list[str]:
    return gzip.decompress((RESOURCES / "sentences.txt.gz").read_bytes()).decode().split("\n")[:-1] + ODD


def write_model(directory: Path, **settings) -> Path:
    """A vocabulary of characters, of what follows them, and of words, in the layout of a Japanese BERT."""
    text = "".join(japanese_artifact.CORPUS) + "abcdefghijklmnopqrstuvwxyzABC0123456789ガか゚ ゙̄ aeiσς"
    characters = list(dict.fromkeys(unicodedata.normalize("NFKC", text)))
    words = [word for kind in japanese_dictionary.WORDS.values() for word in kind.split() if len(word) > 1]
    pieces = dict.fromkeys(characters + [f"##{character}" for character in characters] + words)
    pieces = [piece for piece in pieces if piece.strip()]
    config = tiny_models.FAMILIES["bert"].config(len(SPECIAL) + len(pieces))
    config.max_position_embeddings = 128
    tiny_models.save_model(config, directory)
    (directory / "vocab.txt").write_text("".join(f"{piece}\n" for piece in SPECIAL + pieces), encoding="utf-8")
    return write_settings(directory, **settings)


def write_settings(directory: Path, **settings) -> Path:
    (directory / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return directory


@pytest.fixture
def fugashi(monkeypatch):
    """transformers cuts with fugashi. Its words are those of MeCab's program here, so that all else is compared."""

    class FakeTagger:
        def __init__(self, options: str):
            self.dictionary = Path(options.split('"')[-2])

        def __call__(self, text: str):
            words = japanese_words.run("mecab", self.dictionary, text)
            return [types.SimpleNamespace(surface=word) for word in words]

    module = types.ModuleType("fugashi")
    module.GenericTagger = FakeTagger
    module.__spec__ = types.SimpleNamespace(name="fugashi")
    monkeypatch.setitem(sys.modules, "fugashi", module)


def original(directory: Path, **settings) -> transformers.BertJapaneseTokenizer:
    return transformers.BertJapaneseTokenizer(str(directory / "vocab.txt"), **settings)


@pytest.mark.parametrize("lower_case", [False, True])
@pytest.mark.parametrize("subwords", ["character", "wordpiece"])
def test_basic_words_are_cut_as_in_transformers(tmp_path, subwords, lower_case):
    settings = {"word_tokenizer_type": "basic", "subword_tokenizer_type": subwords, "do_lower_case": lower_case}
    directory = write_model(tmp_path, tokenizer_class="BertJapaneseTokenizer", **settings)
    converted = tokenizers.Tokenizer.from_str(json.dumps(tokenizing.load_tokenizer_json(str(directory), 10_000)))
    expected = original(directory, **settings)
    for text in sentences():
        found = converted.encode(text, "京都")
        assert found.ids == expected.encode(text, "京都"), text
    assert found.type_ids == expected(text, "京都", return_token_type_ids=True)["token_type_ids"]


@needs_mecab
@pytest.mark.parametrize("normalize", [True, False])
@pytest.mark.parametrize("lower_case", [False, True])
@pytest.mark.parametrize("subwords", ["character", "wordpiece"])
def test_words_of_mecab_are_cut_as_in_transformers(tmp_path, fugashi, subwords, lower_case, normalize):
    mecab = {"mecab_dic": None, "normalize_text": normalize}
    settings = {"word_tokenizer_type": "mecab", "subword_tokenizer_type": subwords, "do_lower_case": lower_case}
    directory = write_model(tmp_path, **settings, mecab_kwargs=mecab)
    japanese = tokenizing.japanese_settings(str(directory))
    plain = tokenizers.Tokenizer.from_str(json.dumps(tokenizing.load_tokenizer_json(str(directory), 10_000)))
    words = japanese_words.words("", japanese, DICTIONARY)
    converted = japanese_words.WordTokenizer(plain, words.description, words.dictionary)
    option = {"mecab_option": f'-d "{DICTIONARY}"'}
    expected = original(directory, **settings, mecab_kwargs=mecab | option)
    for text in random.Random(3).sample(sentences()[:-len(ODD)], 60) + ODD:
        found = converted.encode(text, "京都")
        assert found.ids == expected.encode(text, "京都"), text
        assert len(found) == len(found.offsets) == len(found.word_ids)
    assert found.type_ids == expected(text, "京都", return_token_type_ids=True)["token_type_ids"]


@needs_mecab
def test_words_and_places_are_those_of_the_text(tmp_path):
    directory = write_model(tmp_path, word_tokenizer_type="mecab", mecab_kwargs={"mecab_dic": None})
    plain = tokenizers.Tokenizer.from_str(json.dumps(tokenizing.load_tokenizer_json(str(directory), 10_000)))
    words = japanese_words.words("", tokenizing.japanese_settings(str(directory)), DICTIONARY)
    text = "[MASK] ㍿山は、ﾊﾟﾝと か\u3099"
    found = japanese_words.WordTokenizer(plain, words.description, words.dictionary).encode(text, None, False)
    by_word = {}
    for word, (start, end) in zip(found.word_ids, found.offsets, strict=True):
        by_word.setdefault(word, []).append(text[start:end])
    assert [pieces[0] for pieces in by_word.values()] == ["[MASK]", "㍿", "山", "は", "、", "ﾊﾟﾝ", "と", "か\u3099"]


def test_normalisation_by_parts_is_that_of_the_whole():
    generator = random.Random(11)
    alphabet = [chr(code) for code in range(0x20000) if unicodedata.normalize("NFKC", chr(code)) != chr(code)]
    alphabet += [chr(code) for code in range(0x20000) if unicodedata.combining(chr(code))] + list("aかカ가각ㄱㅏ")
    for _ in range(20_000):
        text = "".join(generator.choices(alphabet, k=6))
        found = japanese_words.Normalised.of(text, True)
        assert found.text == unicodedata.normalize("NFKC", text)
        assert len(found.places) == len(found.text)


@pytest.mark.parametrize(
    ("settings", "line"),
    [
        ({"word_tokenizer_type": "sudachi"}, "word_tokenizer_type: found 'sudachi', expected 'mecab' or 'basic'"),
        ({"subword_tokenizer_type": "sentencepiece"}, "subword_tokenizer_type: found 'sentencepiece', expected"),
        ({"do_word_tokenize": False}, "do_word_tokenize: found False, expected True"),
        ({"never_split": ["あ"]}, "never_split: found ['あ'], expected None or []"),
        ({"unk_token": "<unk>"}, "vocab.txt: has no line <unk>, which is a special token"),
        ({"word_tokenizer_type": "mecab", "mecab_kwargs": {"mecab_dic": "neologd"}}, "found 'neologd', expected ipadic"),
        ({"word_tokenizer_type": "mecab", "mecab_kwargs": {"mecab_option": "-u a"}}, "mecab_option: found '-u a'"),
    ],
)
def test_what_can_not_be_cut_so_is_refused(refusal, tmp_path, settings, line):
    directory = write_model(tmp_path / "model", tokenizer_class="BertJapaneseTokenizer", **settings)
    assert line in refusal(directory)


def test_settings_without_a_class_are_found(refusal, tmp_path, monkeypatch):
    """So they are in cl-tohoku/bert-base-japanese-whole-word-masking; the words were cut as an English BERT's are."""
    monkeypatch.setattr(japanese_words, "PACKAGES", ("no_such_dictionary",))
    mecab = {"mecab_dic": "no_such_dictionary"}
    directory = write_model(tmp_path / "model", word_tokenizer_type="mecab", mecab_kwargs=mecab)
    expected = "pip install no-such-dictionary, or name its directory with --mecab-dictionary"
    assert refusal(directory).endswith(expected)
    # Nor does a tokenizer.json count that some tool has put there.
    tiny_models.word_piece(tiny_models.BERT_PAIR, tiny_models.BERT_TOKENS).save(str(directory / "tokenizer.json"))
    assert refusal(directory).endswith(expected)


def test_a_model_without_vocabulary_is_refused(refusal, tmp_path):
    directory = write_model(tmp_path / "model", word_tokenizer_type="basic")
    (directory / "vocab.txt").unlink()
    assert "has no vocab.txt, which its BertJapaneseTokenizer needs" in refusal(directory)


def test_a_dictionary_that_the_server_can_not_read_is_refused(refusal, tmp_path):
    directory = write_model(tmp_path / "model", word_tokenizer_type="mecab")
    dictionary = tmp_path / "dictionary"
    assert "it has no sys.dic" in refusal(directory, "--mecab-dictionary", dictionary)
    shutil.copytree(DICTIONARY, dictionary)
    (dictionary / "dicrc").write_text("max-grouping-size = 10\n", encoding="utf-8")
    assert "sets max-grouping-size" in refusal(directory, "--mecab-dictionary", dictionary)
    content = (DICTIONARY / "sys.dic").read_bytes()
    (dictionary / "sys.dic").write_bytes(content[:40] + b"EUC-JP\0" + content[47:])
    assert "found a dictionary in EUC-JP, expected one in UTF-8" in refusal(directory, "--mecab-dictionary", dictionary)


def test_a_dictionary_for_a_model_without_mecab_is_refused(refusal, tmp_path):
    directory = tiny_models.save("bert", tmp_path / "bert")
    line = refusal(directory, "--mecab-dictionary", DICTIONARY)
    assert line.endswith("the model's words are not cut by MeCab; leave it out")


def test_mecab_that_is_missing_or_fails_is_refused(refusal, tmp_path, monkeypatch):
    directory = write_model(tmp_path / "model", word_tokenizer_type="mecab")
    dictionary = tmp_path / "dictionary"
    shutil.copytree(DICTIONARY, dictionary)
    monkeypatch.setattr(japanese_words.importlib.util, "find_spec", lambda name: None)
    monkeypatch.setattr(japanese_words.shutil, "which", lambda name: None)
    assert refusal(directory, "--mecab-dictionary", dictionary).endswith("not installed: pip install fugashi")
    monkeypatch.setattr(japanese_words.shutil, "which", lambda name: sys.executable)
    assert "fails with" in refusal(directory, "--mecab-dictionary", dictionary)


def test_the_dictionary_of_an_installed_package_is_taken(tmp_path, monkeypatch):
    module = types.ModuleType("ipadic")
    module.DICDIR, module.__spec__ = str(DICTIONARY), types.SimpleNamespace(name="ipadic")
    monkeypatch.setitem(sys.modules, "ipadic", module)
    directory = write_model(tmp_path, word_tokenizer_type="mecab", mecab_kwargs={"mecab_dic": "ipadic"})
    words = japanese_words.words("", tokenizing.japanese_settings(str(directory)), None)
    assert words.dictionary == DICTIONARY
    assert words.description["dictionary"] == "ipadic"


@needs_mecab
def test_an_artifact_holds_the_dictionary(make, tmp_path):
    directory = write_model(tmp_path / "model", word_tokenizer_type="mecab", mecab_kwargs={"mecab_dic": "ipadic"})
    output = tmp_path / "out"
    description = make(directory, output, "--mecab-dictionary", DICTIONARY, "--name", "model.tar.gz")
    assert "parameters" not in description
    stored = json.loads((output / "tokenizer.json").read_text(encoding="utf-8"))
    assert stored["words"] == {
        "cutter": "mecab", "dictionary": "ipadic", "directory": "mecab", "normalize": True, "lowercase": False
    }  # fmt: skip
    names = subprocess.run(["tar", "tzf", output / "model.tar.gz"], capture_output=True, text=True, check=True).stdout
    assert all(f"mecab/{name}" in names.split() for name in japanese_words.FILES)
    answer = json.loads((output / "sample-response.json").read_text(encoding="utf-8"))
    assert answer["answer"]
    # Words are read back as they were written, and are gone with the next model.
    assert japanese_words.load_tokenizer(output / "tokenizer.json").encode("東京は").word_ids == [None, 0, 1, None]
    make(tiny_models.save("bert", tmp_path / "bert"), output)
    assert not (output / "mecab").exists()


@pytest.mark.parametrize("subwords", ["character", "wordpiece"])
def test_the_sample_of_entities_says_where_they_stand(make, tmp_path, subwords):
    """transformers' pipeline does not with such a tokenizer, and the server does."""
    model = write_model(
        tmp_path / "model", tokenizer_class=japanese_bert.NAME, word_tokenizer_type="basic", subword_tokenizer_type=subwords
    )
    config = transformers.BertConfig.from_pretrained(model, id2label={0: "O", 1: "B-LOC", 2: "I-LOC"}, initializer_range=0.5)
    transformers.BertForTokenClassification(config).save_pretrained(model)
    make(model, tmp_path / "out")
    text = json.loads((tmp_path / "out" / "sample.json").read_text(encoding="utf-8"))["inputs"]
    entities = json.loads((tmp_path / "out" / "sample-response.json").read_text(encoding="utf-8"))
    assert len(entities) > 3
    for entity in entities:
        assert text[entity["start"] : entity["end"]] == entity["word"].removeprefix("##")
