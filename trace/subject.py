"""What is traced."""

import json
from typing import NamedTuple

import tokenizers
from torch import nn

from examples import Language, language_of
from model import PositionalInputs, at_precision, input_names, load_model, longest_sequence, padding_id
from tokenizer import default_parameters, is_of_unspaced_scripts, load_tokenizer_json, pair_template, unknown_id


class Subject(NamedTuple):
    """The model in fp32, its tokenizer, and what both say of the rows that the model takes."""

    model: nn.Module
    tokenizer_json: dict
    tokenizer: tokenizers.Tokenizer
    inputs: list[str]
    longest: int
    pair: dict
    language: Language

    @property
    def padding(self) -> int:
        return self.pair["padding"]

    def rows(self) -> dict:
        """What model.json says of the rows that the model takes, in any shape."""
        parameters = default_parameters(self.tokenizer)
        return {
            "inputs": self.inputs,
            "shapes": "dynamic",
            "maxSequenceLength": self.longest,
            "pair": self.pair,
            **({"parameters": parameters} if parameters else {}),
        }

    def examples(self) -> list[tokenizers.Encoding]:
        """Real sentences, cut where the model takes no more."""
        encodings = [self.tokenizer.encode(question, context) for question, context in self.language.examples]
        for encoding in encodings:
            encoding.truncate(self.longest)
        return encodings

    def module(self, precision: str) -> PositionalInputs:
        """The untraced model as it is to be traced."""
        return PositionalInputs(at_precision(self.model, precision), self.inputs).eval()


def load_subject(name: str, attention: str | None) -> Subject:
    model = load_model(name, attention)
    tokenizer_json = load_tokenizer_json(name, model.get_input_embeddings().weight.shape[0])
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json))
    return Subject(
        model=model,
        tokenizer_json=tokenizer_json,
        tokenizer=tokenizer,
        inputs=input_names(model),
        longest=longest_sequence(model),
        pair=pair_template(tokenizer, padding_id(model)),
        language=language_of(tokenizer, unknown_id(tokenizer_json), is_of_unspaced_scripts(tokenizer)),
    )
