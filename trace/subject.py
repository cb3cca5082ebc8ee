"""What is traced."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import tokenizers
from torch import nn

import japanese_words
import pooling
from examples import Language, language_of
from model import (
    PositionalInputs,
    at_precision,
    input_names,
    load_model,
    longest_sequence,
    padding_id,
    refuse_impossible,
)
from refused import Refused
from tasks import CLASSIFICATIONS, QUESTION_ANSWERING, SENTENCE_EMBEDDINGS, TEXT_CLASSIFICATION, Task, labels
from tokenizer import (
    default_parameters,
    is_of_unspaced_scripts,
    japanese_settings,
    load_tokenizer_json,
    pair_template,
    unknown_id,
)
from verification import verify_padding


class Subject(NamedTuple):
    """The model in fp32, its tokenizer, and what both say of the rows that the model takes."""

    model: nn.Module
    tokenizer_json: dict
    tokenizer: tokenizers.Tokenizer | japanese_words.WordTokenizer
    inputs: list[str]
    longest: int
    pair: dict
    language: Language
    dictionary_files: dict[str, Path]
    task: Task
    head: Callable

    @property
    def padding(self) -> int:
        return self.pair["padding"]

    def rows(self) -> dict:
        """What model.json says of the rows that the model takes, in any shape."""
        described, parameters = {}, {}
        if self.task is QUESTION_ANSWERING:
            parameters = default_parameters(self.tokenizer)
        if self.task in CLASSIFICATIONS:
            described["labels"], function = labels(self.model.config)
            parameters = {"function_to_apply": function} if self.task is TEXT_CLASSIFICATION else {}
        return {
            "inputs": self.inputs,
            "shapes": "dynamic",
            "maxSequenceLength": self.longest,
            "pair": self.pair,
            **described,
            **({"parameters": parameters} if parameters else {}),
        }

    def examples(self) -> list[tokenizers.Encoding]:
        """Real sentences, cut where the model takes no more."""
        examples = self.language.examples
        encodings = [self.tokenizer.encode(*(pair if self.task.pairs else pair[1:])) for pair in examples]
        for encoding in encodings:
            encoding.truncate(self.longest)
        return encodings

    def module(self, precision: str) -> PositionalInputs:
        """The untraced model as it is to be traced."""
        return PositionalInputs(at_precision(self.model, precision), self.inputs, self.head).eval()


def load_subject(
    name: str, attention: str | None, dictionary: Path | None = None, task: Task = QUESTION_ANSWERING
) -> Subject:
    """`dictionary` is the directory of MeCab's, where the model's words are cut by that; else its settings name one."""
    model = load_model(name, attention, task)
    refuse_impossible(model)
    tokenizer_json = load_tokenizer_json(name, model.get_input_embeddings().weight.shape[0])
    unknown = unknown_id(tokenizer_json)
    sentence = pooling.load(name) if task is SENTENCE_EMBEDDINGS else None
    longest = longest_sequence(model)
    if sentence and sentence.longest:
        longest = min(longest, sentence.longest)
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json))
    words = words_of(name, dictionary)
    if words:
        tokenizer = japanese_words.WordTokenizer(tokenizer, words.description, words.dictionary)
        tokenizer_json = {japanese_words.KEY: words.description} | tokenizer_json
    subject = Subject(
        model=model,
        tokenizer_json=tokenizer_json,
        tokenizer=tokenizer,
        inputs=input_names(model),
        longest=longest,
        pair=pair_template(tokenizer, padding_id(model)),
        language=language_of(tokenizer, unknown, is_of_unspaced_scripts(tokenizer)),
        dictionary_files=words.files() if words else {},
        task=task,
        head=sentence.steps if sentence else task.head,
    )
    verify_padding(
        type(model).__name__,
        subject.module("fp32"),
        subject.examples(),
        subject.inputs,
        subject.padding,
        subject.longest,
    )
    return subject


def words_of(name: str, dictionary: Path | None) -> japanese_words.Words | None:
    settings = japanese_settings(name)
    if settings and settings["word_tokenizer_type"] == "mecab":
        return japanese_words.words(name, settings, dictionary)
    if dictionary:
        raise Refused(f"--mecab-dictionary {dictionary}: the model's words are not cut by MeCab; leave it out")
    return None
