"""What is traced."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import tokenizers
import torch
import transformers
from torch import nn

import graph
import japanese_words
import pooling
import splade
import verification
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
from tasks import (
    CLASSIFICATIONS,
    FILL_MASK,
    QUESTION_ANSWERING,
    SENTENCE_EMBEDDINGS,
    SPARSE_EMBEDDINGS,
    TEXT_CLASSIFICATION,
    Task,
    labels,
)
from tokenizer import (
    default_parameters,
    is_of_unspaced_scripts,
    japanese_settings,
    load_tokenizer_json,
    lower_case,
    pair_template,
    unknown_id,
)
from verification import verify_padding, verify_rows

# The length of the rows that the speed is measured with.
USUAL_LENGTH = 128


class Subject(NamedTuple):
    """The model in fp32, its tokenizer, and what both say of the rows that the model takes.

    `source` is where both are, by what transformers takes. `files` are the artifact's for what is done beside the model.
    """

    source: str
    model: nn.Module
    tokenizer_json: dict
    tokenizer: tokenizers.Tokenizer | japanese_words.WordTokenizer
    inputs: list[str]
    longest: int
    pair: dict
    language: Language
    files: dict[str, Path | bytes]
    task: Task
    head: Callable
    mask: int | None = None
    parameters: dict = {}
    unit: str = "tokens"

    @property
    def padding(self) -> int:
        return self.pair["padding"]

    def rows(self) -> dict:
        """What model.json says of the rows that the model takes, in any shape."""
        described, parameters = {}, self.parameters
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
        return PositionalInputs(at_precision(self.model, precision), self.inputs, self.head, self.mask).eval()

    def for_cpu(self, precision: str) -> PositionalInputs:
        """The same with known attention rewritten."""
        if graph.is_known(self.model):
            return graph.for_cpu(self.model, self.inputs, precision, self.head, self.mask)
        return self.module(precision)

    def masked(self, tensors: list[torch.Tensor]) -> list[torch.Tensor]:
        """The rows with their second token masked, where the model fills in masks."""
        if self.mask is not None:
            tensors[self.inputs.index("input_ids")][:, min(1, tensors[0].shape[1] - 1)] = self.mask
        return tensors

    def example(self) -> list[torch.Tensor]:
        return self.masked(verification.batch(self.examples(), self.inputs, self.padding))

    def everywhere(self) -> list[torch.Tensor]:
        """The example, with masks in all places where the model fills in masks."""
        tensors = self.example()
        if self.mask is not None:
            tensors[self.inputs.index("input_ids")].fill_(self.mask)
        return tensors

    def batches(self) -> list[list[torch.Tensor]]:
        longest = min(self.longest, verification.LONGEST_VERIFIED)
        batches = verification.batches_of_many_shapes(self.examples(), self.inputs, self.padding, longest)
        return [self.masked(batch) for batch in batches]

    def batches_of(self, entry: dict) -> list[list[torch.Tensor]]:
        return verification.batches_of_one_shape(
            self.examples(), self.inputs, self.padding, entry["batch"], entry["sequence"]
        )

    def limit(self) -> str:
        longest = min(self.longest, verification.LONGEST_VERIFIED)
        return f"up to {longest} tokens" if longest == self.longest else (
            f"up to {longest} of the model's {self.longest} tokens"
        )

    def usual(self, rows: int) -> tuple[list[torch.Tensor], int]:
        """What the speed is measured with, and how many tokens that is."""
        tensors = [tensor[:1, :USUAL_LENGTH].repeat(rows, 1) for tensor in self.batches()[-1]]
        return tensors, tensors[0].numel()

    def compared(self) -> list[list[torch.Tensor]]:
        """Rows to compare precisions with: each passage is a text.

        A model of one label mostly ranks passages for a question. It gets each question with its passage or another.
        """
        facts = self.language.facts
        asked = [(passage,) for _, passage in facts]
        if self.task is TEXT_CLASSIFICATION and self.model.config.num_labels == 1:
            asked = [(facts[number - number % 2][0], passage) for number, (_, passage) in enumerate(facts)]
        encodings = [self.tokenizer.encode(*texts) for texts in asked]
        for encoding in encodings:
            encoding.truncate(self.longest)
        return [self.masked(verification.batch([encoding], self.inputs, self.padding)) for encoding in encodings]

    def compiler_arguments(self, arguments: list[str]) -> list[str]:
        return arguments


def load_subject(
    name: str,
    attention: str | None,
    dictionary: Path | None = None,
    task: Task = QUESTION_ANSWERING,
    compiled: bool = False,
) -> Subject:
    """`dictionary` is the directory of MeCab's, where the model's words are cut by that; else its settings name one.

    A compiled file can't gather masks: how many there are is no shape.
    """
    layout = splade.layout(name) if task is SPARSE_EMBEDDINGS else None
    source = splade.directory(name, layout.encoder) if layout else name
    model = load_model(source, attention, task)
    refuse_impossible(model)
    tokenizer_json = load_tokenizer_json(source, model.get_input_embeddings().weight.shape[0])
    unknown = unknown_id(tokenizer_json)
    sentence = pooling.load(name) if task is SENTENCE_EMBEDDINGS else None
    if layout:
        sentence = splade.load(name, source, layout)
    settings = pooling.read_json(source, "tokenizer_config.json") or {}
    longest = longest_sequence(model, settings.get("model_max_length"), sentence.longest if sentence else None)
    if sentence and sentence.lower_case:
        tokenizer_json = lower_case(tokenizer_json)
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json))
    words = words_of(source, dictionary)
    if words:
        tokenizer = japanese_words.WordTokenizer(tokenizer, words.description, words.dictionary)
        tokenizer_json = {japanese_words.KEY: words.description} | tokenizer_json
    files = words.files() if words else {}
    if layout and (table := splade.table(name, layout, tokenizer)):
        files |= {splade.TABLE: table}
    subject = Subject(
        source=source,
        model=model,
        tokenizer_json=tokenizer_json,
        tokenizer=tokenizer,
        inputs=input_names(model),
        longest=longest,
        pair=pair_template(tokenizer, padding_id(model)),
        language=language_of(tokenizer, unknown, is_of_unspaced_scripts(tokenizer)),
        files=files,
        task=task,
        head=sentence.steps if sentence else task.head,
        mask=mask_id(name) if task is FILL_MASK and not compiled else None,
        parameters=sentence.parameters if sentence else {},
    )
    untraced = subject._replace(mask=None).module("fp32")
    verify_rows(
        type(model).__name__, untraced, verification.batch(subject.examples(), subject.inputs, subject.padding)
    )
    verify_padding(
        type(model).__name__,
        untraced,
        subject.examples(),
        subject.inputs,
        subject.padding,
        subject.longest,
    )
    return subject


def mask_id(name: str) -> int:
    mask = transformers.AutoTokenizer.from_pretrained(name).mask_token_id
    if mask is None:
        raise Refused(f"--model {name}: its tokenizer has no mask_token, expected the token to fill in")
    return mask


def words_of(name: str, dictionary: Path | None) -> japanese_words.Words | None:
    settings = japanese_settings(name)
    if settings and settings["word_tokenizer_type"] == "mecab":
        return japanese_words.words(name, settings, dictionary)
    if dictionary:
        raise Refused(f"--mecab-dictionary {dictionary}: the model's words are not cut by MeCab; leave it out")
    return None
