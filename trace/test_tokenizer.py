"""Makes tokenizer.json files from what slow tokenizers are stored as, and reads off them what the server must know."""

import json
import shutil

import pytest
import tokenizers
import transformers
from tokenizers import models, normalizers, pre_tokenizers, trainers

import examples
import japanese_artifact
import tiny_models
import tokenizer as tokenizing
from refused import Refused

TEXTS = ["where was marie curie born?", "the letter, found in 1998.", "an unheard-of word: zyzzyva"]


def stored(model, vocabulary_size=10_000):
    return tokenizers.Tokenizer.from_str(json.dumps(tokenizing.load_tokenizer_json(str(model), vocabulary_size)))


def with_tokenizer_config(directory, **settings):
    (directory / "tokenizer_config.json").write_text(json.dumps(settings), encoding="utf-8")
    return directory


def make_slow(family, directory):
    """Replaces tokenizer.json by the files that the family's slow tokenizer has."""
    tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    tokenizer.no_truncation()
    tokenizer.no_padding()
    tokenizer.model.save(str(directory))
    (directory / "tokenizer.json").unlink()
    return tokenizer


@pytest.mark.parametrize(("family", "files"), [("bert", ["vocab.txt"]), ("roberta", ["merges.txt", "vocab.json"])])
def test_vocabulary_files_make_the_same_tokenizer(tmp_path, family, files):
    directory = tiny_models.save(family, tmp_path / family)
    original = make_slow(family, directory)
    assert all((directory / file).exists() for file in files)
    converted = stored(directory)
    for text in TEXTS:
        found, expected = converted.encode(text, "a"), original.encode(text, "a")
        assert found.tokens == expected.tokens
        assert found.offsets == expected.offsets
        assert found.type_ids == expected.type_ids


def test_a_slow_tokenizer_is_enough_for_an_artifact(make, tmp_path):
    directory = tiny_models.save("bert", tmp_path / "bert")
    make(directory, tmp_path / "expected")
    make_slow("bert", directory)
    assert make(directory, tmp_path / "out")["pair"]["before"] == [2]
    assert (tmp_path / "out" / "model.pt").exists()


@pytest.fixture(scope="module")
def sentencepiece_model(tmp_path_factory):
    """Trained here, with the special tokens of a Japanese RoBERTa in its order: the unknown token is the first."""
    sentencepiece = pytest.importorskip("sentencepiece")
    pytest.importorskip("google.protobuf")
    prefix = tmp_path_factory.mktemp("sentencepiece") / "spiece"
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(japanese_artifact.CORPUS),
        model_prefix=str(prefix),
        vocab_size=300,
        hard_vocab_limit=False,
        unk_id=0,
        bos_id=1,
        eos_id=2,
        pad_id=3,
        pad_piece="[PAD]",
        user_defined_symbols=["[CLS]", "[SEP]", "[MASK]"],
        minloglevel=2,
    )
    return prefix.with_suffix(".model")


@pytest.fixture
def japanese(tmp_path, sentencepiece_model):
    """A RoBERTa with a T5 tokenizer, of which there is the SentencePiece file only."""
    config = tiny_models.FAMILIES["roberta"].config(320)
    config.pad_token_id = 3
    config.max_position_embeddings = tiny_models.LONGEST + 4
    directory = tiny_models.save_model(config, tmp_path / "japanese")
    shutil.copy(sentencepiece_model, directory / "spiece.model")
    return with_tokenizer_config(directory, tokenizer_class="T5Tokenizer", extra_ids=0, pad_token="[PAD]")


def test_a_sentencepiece_file_makes_a_japanese_tokenizer(japanese, sentencepiece_model):
    import sentencepiece

    original = sentencepiece.SentencePieceProcessor(model_file=str(sentencepiece_model))
    converted = stored(japanese)
    for text in ["東京は日本の首都です。", "値段は１５００円　でした", "龘龘が😀いる"]:
        assert converted.encode(text, add_special_tokens=False).ids == original.encode(text)
    # transformers 5 writes 2 for it, whatever the file says; here that is the separator.
    assert converted.token_to_id("</s>") == 2
    assert converted.encode("龘", add_special_tokens=False).ids == [converted.token_to_id("▁"), 0]


def test_a_japanese_sentencepiece_file_is_enough_for_an_artifact(make, japanese, tmp_path):
    description = make(japanese, tmp_path / "out")
    assert description["pair"] == {
        "before": [], "between": [2], "after": [2], "padding": 3, "questionType": 0, "contextType": 0
    }  # fmt: skip
    assert description["parameters"] == {"align_to_words": False}
    sample = json.loads((tmp_path / "out" / "sample.json").read_text(encoding="utf-8"))
    assert sample == examples.JAPANESE.sample


@pytest.mark.parametrize(
    ("config", "file"),
    [
        (transformers.XLMRobertaConfig, "sentencepiece.bpe.model"),
        (transformers.CamembertConfig, "sentencepiece.bpe.model"),
        (transformers.AlbertConfig, "spiece.model"),
        (transformers.DebertaV2Config, "spm.model"),
    ],
)
def test_every_sentencepiece_family_cuts_as_sentencepiece_does(tmp_path, sentencepiece_model, config, file):
    """The conversion refuses what it finds to differ."""
    config().save_pretrained(tmp_path)
    shutil.copy(sentencepiece_model, tmp_path / file)
    with_tokenizer_config(tmp_path, keep_accents=True)
    unknown = stored(tmp_path).encode("龘", add_special_tokens=False).ids[-1]
    assert stored(tmp_path).id_to_token(unknown) == "<unk>"


def test_a_conversion_that_cuts_otherwise_is_refused(japanese, sentencepiece_model):
    converted = tokenizing.load_tokenizer_json(str(japanese), 320)
    converted["model"]["vocab"] = [
        [piece, -1.0 if len(piece) == 1 else -100.0] for piece, _ in converted["model"]["vocab"]
    ]
    with pytest.raises(Refused, match="cuts .* otherwise than SentencePiece; save a tokenizer.json beside the model"):
        tokenizing.like_sentencepiece(converted, sentencepiece_model)


def test_sentencepiece_files_without_sentencepiece_are_refused(monkeypatch, refusal, tmp_path):
    directory = tiny_models.save_model(tiny_models.FAMILIES["roberta"].config(320), tmp_path / "model")
    (directory / "spiece.model").write_bytes(b"")
    monkeypatch.setattr(tokenizing, "is_installed", lambda module: False)
    line = refusal(directory)
    assert "its only tokenizer is spiece.model, and sentencepiece is not installed to read it" in line
    assert line.endswith("pip install sentencepiece protobuf")


def test_a_damaged_sentencepiece_file_is_refused(refusal, tmp_path):
    pytest.importorskip("sentencepiece")
    directory = tiny_models.save_model(tiny_models.FAMILIES["roberta"].config(320), tmp_path / "model")
    (directory / "spiece.model").write_bytes(b"not a model")
    with_tokenizer_config(directory, tokenizer_class="T5Tokenizer")
    assert "no tokenizer.json can be made from its tokenizer" in refusal(directory)


def test_a_model_without_a_tokenizer_is_refused(refusal, tmp_path):
    directory = tiny_models.save("bert", tmp_path / "bert")
    (directory / "tokenizer.json").unlink()
    assert "has no tokenizer.json and nothing to make one from, expected vocab.txt" in refusal(directory)


def test_a_damaged_tokenizer_is_refused(refusal, tmp_path):
    directory = tiny_models.save("bert", tmp_path / "bert")
    (directory / "tokenizer.json").write_text("{", encoding="utf-8")
    assert "tokenizer.json: tokenizers " in refusal(directory)


def test_a_vocabulary_larger_than_the_models_is_refused(refusal, tmp_path):
    directory = tiny_models.save("bert", tmp_path / "bert")
    tiny_models.save_model(tiny_models.FAMILIES["bert"].config(100), directory)
    assert "and the model's vocabulary ends at 99" in refusal(directory)


def trained(model, pre_tokenizer, trainer, sentences, normalizer=None):
    tokenizer = tokenizers.Tokenizer(model)
    tokenizer.pre_tokenizer = pre_tokenizer
    if normalizer is not None:
        tokenizer.normalizer = normalizer
    tokenizer.decoder = tokenizers.decoders.ByteLevel() if "ByteLevel" in str(pre_tokenizer) else None
    tokenizer.train_from_iterator(sentences, trainer)
    return tokenizer


def bpe(sentences):
    return trained(
        models.BPE(), pre_tokenizers.ByteLevel(), trainers.BpeTrainer(vocab_size=600, show_progress=False), sentences
    )


def unigrams(sentences):
    trainer = trainers.UnigramTrainer(vocab_size=300, unk_token="<unk>", special_tokens=["<unk>"], show_progress=False)
    return trained(models.Unigram(), pre_tokenizers.Metaspace(), trainer, sentences, normalizers.NFKC())


def characters(sentences):
    """As Japanese and Chinese BERTs cut: each ideograph is a word."""
    trainer = trainers.WordPieceTrainer(vocab_size=300, special_tokens=["[UNK]"], show_progress=False)
    return trained(
        models.WordPiece(unk_token="[UNK]"),
        pre_tokenizers.BertPreTokenizer(),
        trainer,
        sentences,
        normalizers.BertNormalizer(),
    )


@pytest.mark.parametrize(
    ("kind", "sentences", "parameters"),
    [
        (bpe, japanese_artifact.CORPUS, {"align_to_words": False}),
        (unigrams, japanese_artifact.CORPUS, {"align_to_words": False}),
        (characters, japanese_artifact.CORPUS, {}),
        (bpe, tiny_models.SENTENCES, {}),
        (unigrams, tiny_models.SENTENCES, {}),
    ],
)
def test_answers_stay_narrow_where_words_are_sentences(kind, sentences, parameters):
    assert tokenizing.default_parameters(kind(sentences)) == parameters
