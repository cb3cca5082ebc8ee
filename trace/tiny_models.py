"""Tiny models of random weights in Hugging Face's layout, for the tests: every family, every kind of tokenizer."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import tokenizers
import torch
import transformers
from tokenizers import decoders, models, normalizers, pre_tokenizers, processors, trainers

from examples import ENGLISH

SENTENCES = [text.lower() for example in ENGLISH.examples for text in example] + list(ENGLISH.sample.values())
LONGEST = 64
SMALL = {
    "hidden_size": 32,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 64,
    "initializer_range": 0.5,
}


@dataclass(frozen=True)
class Family:
    """A kind of model.

    `pair` is how its tokenizer writes a pair, `token_types` whether it is given them, `before_text` how many of its
    positions no text may fill, `longest` how many tokens its artifact says that a row may have.
    """

    config: Callable[..., transformers.PretrainedConfig]
    tokenizer: Callable[[str, list[str]], tokenizers.Tokenizer]
    special_tokens: list[str]
    pair: str
    token_types: bool
    before_text: int = 0
    longest: int = LONGEST


def word_piece(pair: str, special: list[str], vocabulary: int = 300) -> tokenizers.Tokenizer:
    """Like a stored one, it asks for truncation and padding."""
    tokenizer = tokenizers.Tokenizer(models.WordPiece(unk_token=unknown(special)))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.decoder = decoders.WordPiece()
    tokenizer.train_from_iterator(
        SENTENCES, trainers.WordPieceTrainer(vocab_size=vocabulary, special_tokens=special, show_progress=False)
    )
    tokenizer.enable_truncation(12)
    tokenizer.enable_padding()
    return with_pairs(tokenizer, pair)


def byte_level_bpe(pair: str, special: list[str]) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(
        SENTENCES,
        trainers.BpeTrainer(vocab_size=400, special_tokens=special, initial_alphabet=alphabet, show_progress=False),
    )
    with_pairs(tokenizer, pair)
    # As the published ones do, it leaves the space before a word out of the word.
    tokenizer.post_processor = processors.Sequence([processors.ByteLevel(trim_offsets=True), tokenizer.post_processor])
    return tokenizer


def unigram(pair: str, special: list[str]) -> tokenizers.Tokenizer:
    tokenizer = tokenizers.Tokenizer(models.Unigram())
    tokenizer.normalizer = normalizers.NFKC()
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    trainer = trainers.UnigramTrainer(
        vocab_size=300, special_tokens=special, unk_token=unknown(special), show_progress=False
    )
    tokenizer.train_from_iterator(SENTENCES, trainer)
    return with_pairs(tokenizer, pair)


def unknown(special: list[str]) -> str:
    return next(token for token in special if "unk" in token.lower())


def with_pairs(tokenizer: tokenizers.Tokenizer, pair: str) -> tokenizers.Tokenizer:
    words = {word.split(":")[0] for word in pair.split()} - {"$A", "$B"}
    tokenizer.post_processor = processors.TemplateProcessing(
        single="$A", pair=pair, special_tokens=[(word, tokenizer.token_to_id(word)) for word in words]
    )
    return tokenizer


BERT_TOKENS = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
BERT_PAIR = "[CLS] $A [SEP] $B:1 [SEP]:1"
SPLINTER_TOKENS = [*BERT_TOKENS, "[QUESTION]", "."]
SPLINTER_PAIR = "[CLS] $A [QUESTION] . [SEP] $B:1 [SEP]:1"
T5_TOKENS = ["<pad>", "</s>", "<unk>"]
T5_PAIR = "$A </s> $B </s>"
ROBERTA_TOKENS = ["<s>", "<pad>", "</s>", "<unk>"]
ROBERTA_PAIR = "<s> $A </s> </s> $B </s>"


def roberta_like(config):
    """Padding is token 1, so the first position of a text is 2."""

    def make(vocab_size: int):
        return config(
            vocab_size=vocab_size,
            pad_token_id=1,
            bos_token_id=0,
            eos_token_id=2,
            max_position_embeddings=LONGEST + 2,
            **SMALL,
        )

    return make


def bert_like(config, **more):
    def make(vocab_size: int):
        return config(vocab_size=vocab_size, pad_token_id=0, max_position_embeddings=LONGEST, **SMALL, **more)

    return make


def distilbert(vocab_size: int):
    return transformers.DistilBertConfig(
        vocab_size=vocab_size,
        pad_token_id=0,
        max_position_embeddings=LONGEST,
        dim=32,
        n_layers=2,
        n_heads=4,
        hidden_dim=64,
        initializer_range=0.5,
    )


def deberta(config):
    """Attention by relative positions, as in the published ones."""
    return bert_like(config, relative_attention=True, pos_att_type=["c2p", "p2c"], max_relative_positions=LONGEST)


def modernbert(vocab_size: int):
    """The second layer attends to 8 tokens before and behind each, the first to all."""
    make = bert_like(
        transformers.ModernBertConfig,
        initializer_cutoff_factor=2.0,
        cls_token_id=2,
        sep_token_id=3,
        bos_token_id=2,
        eos_token_id=3,
        global_attn_every_n_layers=2,
        local_attention=16,
    )
    return make(vocab_size)


def big_bird(vocab_size: int, block_size: int = 16):
    """It attends sparsely beyond 7 blocks, which are more tokens than it takes unless they are small."""
    make = bert_like(transformers.BigBirdConfig, sep_token_id=3, block_size=block_size, num_random_blocks=1)
    return make(vocab_size)


def t5(vocab_size: int):
    """It has no longest input."""
    return transformers.T5Config(
        vocab_size=vocab_size,
        pad_token_id=0,
        decoder_start_token_id=0,
        eos_token_id=1,
        d_model=32,
        d_kv=8,
        d_ff=64,
        num_layers=2,
        num_heads=4,
    )


def bart(config):
    def make(vocab_size: int, **more):
        return config(
            vocab_size=vocab_size,
            bos_token_id=0,
            pad_token_id=1,
            eos_token_id=2,
            max_position_embeddings=LONGEST,
            d_model=32,
            encoder_layers=2,
            decoder_layers=2,
            encoder_attention_heads=4,
            decoder_attention_heads=4,
            encoder_ffn_dim=64,
            decoder_ffn_dim=64,
            init_std=0.5,
            **more,
        )

    return make


FAMILIES = {
    "bert": Family(bert_like(transformers.BertConfig), word_piece, BERT_TOKENS, BERT_PAIR, True),
    "distilbert": Family(distilbert, word_piece, BERT_TOKENS, BERT_PAIR, False),
    "electra": Family(
        bert_like(transformers.ElectraConfig, embedding_size=16), word_piece, BERT_TOKENS, BERT_PAIR, True
    ),
    "albert": Family(bert_like(transformers.AlbertConfig, embedding_size=16), unigram, BERT_TOKENS, BERT_PAIR, True),
    "roberta": Family(
        roberta_like(transformers.RobertaConfig), byte_level_bpe, ROBERTA_TOKENS, ROBERTA_PAIR, False, before_text=2
    ),
    "xlm-roberta": Family(
        roberta_like(transformers.XLMRobertaConfig), unigram, ROBERTA_TOKENS, ROBERTA_PAIR, False, before_text=2
    ),
    "camembert": Family(
        roberta_like(transformers.CamembertConfig), unigram, ROBERTA_TOKENS, ROBERTA_PAIR, False, before_text=2
    ),
    "mpnet": Family(
        roberta_like(transformers.MPNetConfig), word_piece, ROBERTA_TOKENS, ROBERTA_PAIR, False, before_text=2
    ),
    "deberta": Family(deberta(transformers.DebertaConfig), byte_level_bpe, BERT_TOKENS, BERT_PAIR, False),
    "deberta-v2": Family(deberta(transformers.DebertaV2Config), unigram, BERT_TOKENS, BERT_PAIR, False),
    "modernbert": Family(modernbert, byte_level_bpe, BERT_TOKENS, BERT_PAIR, False),
    "big-bird": Family(big_bird, unigram, BERT_TOKENS, BERT_PAIR, True),
    "t5": Family(t5, unigram, T5_TOKENS, T5_PAIR, False, longest=512),
    "bart": Family(bart(transformers.BartConfig), byte_level_bpe, ROBERTA_TOKENS, ROBERTA_PAIR, False),
    "splinter": Family(
        bert_like(transformers.SplinterConfig, question_token_id=4), word_piece, SPLINTER_TOKENS, SPLINTER_PAIR, True
    ),
}


def save(name: str, directory: Path) -> Path:
    """A family's model with its tokenizer.json."""
    family = FAMILIES[name]
    tokenizer = family.tokenizer(family.pair, family.special_tokens)
    save_model(family.config(tokenizer.get_vocab_size()), directory)
    tokenizer.save(str(directory / "tokenizer.json"))
    return directory


def save_model(config: transformers.PretrainedConfig, directory: Path) -> Path:
    # RoBERTa's own default is 2 token types in old versions of transformers.
    if "roberta" in config.model_type or config.model_type == "camembert":
        config.type_vocab_size = 1
    torch.manual_seed(7)
    transformers.AutoModelForQuestionAnswering.from_config(config).save_pretrained(directory)
    return directory
