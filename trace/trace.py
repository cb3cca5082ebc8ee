"""Traces a Hugging Face question-answering model into a model artifact that Berth serves.

The steps, in the order of `main`:

1. load the model in fp32;
2. quantise it, when int8 is asked for;
3. trace it to TorchScript, with any batch size and any sequence length;
4. read the traced model back and compare it with the untraced one on many shapes; one that differs is refused;
5. write `model.pt`, `tokenizer.json` and `model.json`.

    python trace/trace.py --model ID_OR_DIRECTORY --output model-artifact

Arguments may also stand in a file, one a line: `python trace/trace.py @trace/minilm-qa.args --model …`.
"""

import argparse
import inspect
import io
import json
import sys
import time
import warnings
from pathlib import Path

import tokenizers
import torch
import transformers
from torch import nn
from torch.ao.quantization import float_qparams_weight_only_qconfig, per_channel_dynamic_qconfig, quantize_dynamic

import torchscript

FORMAT = 1
OUTPUTS = ["start_logits", "end_logits"]
LARGEST_DIFFERENCE = 1e-4

# Question and context of different lengths, so that a batch of them needs padding.
EXAMPLES = [
    ("Where was Marie Curie born?", "Marie Curie was born in Warsaw."),
    (
        "What does the lighthouse burn today?",
        "The lighthouse on the northern cape was built in 1871. Until 1923 its lamp burnt oil, which the keepers "
        "carried up two hundred steps every evening. Today it burns nothing: the lamp is electric and works by itself.",
    ),
    ("Who wrote the letter?", "The letter, found in an attic in 1998, was written by a baker called Tomasz to his sister."),
]


class Refused(Exception):
    """The model cannot become an artifact; the message says why and is all that the user sees."""


class PositionalInputs(nn.Module):
    """Takes the inputs by position and returns (start_logits, end_logits) as float32: what TorchScript callers need."""

    def __init__(self, model: nn.Module, inputs: list[str]):
        super().__init__()
        self.model = model
        self.inputs = inputs

    def forward(self, *tensors):
        answer = self.model(**dict(zip(self.inputs, tensors, strict=True)), return_dict=True)
        return answer.start_logits.float(), answer.end_logits.float()


def main() -> None:
    arguments = parse_arguments()
    silence_expected_warnings()
    try:
        make_artifact(arguments)
    except Refused as refusal:
        sys.exit(f"error: {refusal}")


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description="Trace a question-answering model into a model artifact.", fromfile_prefix_chars="@"
    )
    parser.add_argument("--model", required=True, help="Hugging Face model ID, or a directory in that layout")
    parser.add_argument("--output", required=True, type=Path, help="directory to write the artifact to")
    parser.add_argument("--target", choices=["cpu"], default="cpu", help="what the artifact runs on")
    parser.add_argument("--precision", choices=["fp32", "int8"], default="fp32")
    parser.add_argument("--licence", help="licence of the weights, kept in model.json")
    parser.add_argument("--attribution", action="append", default=[], help="a work to credit; may be repeated")
    return parser.parse_args()


def make_artifact(arguments: argparse.Namespace) -> None:
    original = load_model(arguments.model)
    tokenizer_json = load_tokenizer_json(arguments.model)
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json))
    inputs = input_names(original)
    padding = padding_id(original)
    pair = pair_template(tokenizer, padding)
    examples = [tokenizer.encode(question, context) for question, context in EXAMPLES]

    served = quantise(original) if arguments.precision == "int8" else original
    module = PositionalInputs(served, inputs).eval()
    longest = longest_sequence(original)
    batches = batches_of_many_shapes(examples, inputs, padding, longest)

    file = trace(module, batch(examples, inputs, padding))
    loaded = torch.jit.load(io.BytesIO(file))
    difference = verify(loaded, module, batches, exact=arguments.precision == "fp32")
    print(f"model.pt: {len(file) / 1e6:.1f} MB, largest logit difference from the untraced model {difference:.2g}")
    if arguments.precision != "fp32":
        loss = largest_difference(loaded, PositionalInputs(original, inputs).eval(), batches)
        print(f"model.pt: largest logit difference from fp32 {loss:.2g}")
    print(f"model.pt: {tokens_per_second(loaded, batches):.0f} tokens/s on one thread")

    arguments.output.mkdir(parents=True, exist_ok=True)
    (arguments.output / "model.pt").write_bytes(file)
    write_json(arguments.output / "tokenizer.json", tokenizer_json, indent=None)
    write_json(arguments.output / "model.json", describe(arguments, original, inputs, longest, pair), indent=2)


def describe(arguments: argparse.Namespace, model: nn.Module, inputs: list[str], longest: int, pair: dict) -> dict:
    """What `model.json` says. It holds no time and no path: made twice, it is the same."""
    is_directory = Path(arguments.model).is_dir()
    return {
        "format": FORMAT,
        "task": "question-answering",
        "target": arguments.target,
        "precision": arguments.precision,
        "torch": torch.__version__.split("+")[0],
        "inputs": inputs,
        "outputs": OUTPUTS,
        "shapes": "dynamic",
        "files": [{"path": "model.pt"}],
        "maxSequenceLength": longest,
        "pair": pair,
        "provenance": {
            "model": Path(arguments.model).resolve().name if is_directory else arguments.model,
            "architecture": type(model).__name__,
            "licence": arguments.licence,
            "attribution": arguments.attribution,
        },
    }


def load_model(model: str) -> nn.Module:
    return transformers.AutoModelForQuestionAnswering.from_pretrained(model, dtype=torch.float32).eval()


def load_tokenizer_json(model: str) -> dict:
    """The tokenizer as it is stored, but without truncation and padding: the server cuts and pads by itself."""
    try:
        path = transformers.utils.cached_file(model, "tokenizer.json")
    except OSError as missing:
        raise Refused(f"--model {model}: has no tokenizer.json; save the fast tokenizer beside the model") from missing
    stored = json.loads(Path(path).read_text(encoding="utf-8"))
    return stored | {"truncation": None, "padding": None}


def input_names(model: nn.Module) -> list[str]:
    """What `forward` is given. Models of one token type (RoBERTa) accept token_type_ids but have no use for them."""
    names = ["input_ids", "attention_mask"]
    takes_token_types = "token_type_ids" in inspect.signature(model.forward).parameters
    if takes_token_types and getattr(model.config, "type_vocab_size", 0) > 1:
        names.append("token_type_ids")
    return names


def padding_id(model: nn.Module) -> int:
    padding = model.config.pad_token_id
    if padding is None:
        raise Refused("config.json: pad_token_id is missing, expected the id of the padding token")
    return padding


def longest_sequence(model: nn.Module) -> int:
    """The positions a text may fill. RoBERTa's first ones, up to the padding id, belong to the padding."""
    positions = model.config.max_position_embeddings
    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return positions - module.padding_idx - 1
    return positions


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
    if question == 0:
        raise Refused("tokenizer.json: a pair starts with the question, expected a classification token before it")
    return {
        "before": encoding.ids[:question],
        "between": encoding.ids[question_end:context],
        "after": encoding.ids[context_end:],
        "padding": padding,
        "questionType": question_type,
        "contextType": context_type,
    }


def quantise(model: nn.Module) -> nn.Module:
    """Linear layers to int8 with one scale a channel, the word embedding to 8 bits with one scale a row.

    Position and token type embeddings and the answer head stay fp32: they are small, and the head's rounding would go
    straight into the scores. Activations are quantised while running, with one scale for the whole tensor. A row's
    result therefore depends on its padding and on its neighbours in the batch, so the server runs int8 row by row.
    """
    word_embedding = next(name for name, module in model.named_modules() if module is model.get_input_embeddings())
    recipe = {
        nn.Linear: per_channel_dynamic_qconfig,
        word_embedding: float_qparams_weight_only_qconfig,
        "qa_outputs": None,
    }
    return quantize_dynamic(model, recipe)


def trace(module: nn.Module, example: list[torch.Tensor]) -> bytes:
    """The bytes of a TorchScript file. It is not frozen: that gains no speed and would hide the weights in the code."""
    with torch.no_grad():
        # check_trace would compare on this example alone; `verify` compares on many shapes.
        return torchscript.to_bytes(torch.jit.trace(module.requires_grad_(False), example, check_trace=False))


def batch(encodings: list[tokenizers.Encoding], inputs: list[str], padding: int) -> list[torch.Tensor]:
    """The encodings as one padded batch: a tensor of shape [batch, longest] for each input, in order."""
    longest = max(len(encoding) for encoding in encodings)

    def padded(rows: list[list[int]], filler: int) -> torch.Tensor:
        return torch.tensor([row + [filler] * (longest - len(row)) for row in rows])

    tensors = {
        "input_ids": padded([encoding.ids for encoding in encodings], padding),
        "attention_mask": padded([[1] * len(encoding) for encoding in encodings], 0),
        "token_type_ids": padded([encoding.type_ids for encoding in encodings], 0),
    }
    return [tensors[name] for name in inputs]


def batches_of_many_shapes(
    examples: list[tokenizers.Encoding], inputs: list[str], padding: int, longest: int
) -> list[list[torch.Tensor]]:
    """Each example alone, all of them padded, and the longest sequence the model takes; none but one as traced."""
    alone = [batch([example], inputs, padding) for example in examples]
    padded = [batch(examples[count:] * 2, inputs, padding) for count in range(2)]
    repetitions = -(-longest // padded[0][0].shape[1])
    full = [torch.cat([tensor] * repetitions, dim=1)[:2, :longest].contiguous() for tensor in padded[0]]
    return alone + padded + [full]


def verify(traced, untraced, batches: list[list[torch.Tensor]], exact: bool) -> float:
    """Refuses a traced model whose logits (`exact`) or whose answers differ; returns the largest logit difference.

    int8 is held to its answers: a last-bit difference may round an activation to its neighbour, which moves logits.
    """
    for inputs in batches:
        shape = list(inputs[0].shape)
        difference = largest_difference(traced, untraced, [inputs])
        # `not <=` rather than `>`, so that NaN is refused too.
        if exact and not difference <= LARGEST_DIFFERENCE:
            raise Refused(
                f"model.pt: logits of shape {shape} differ by {difference:.2g} from the untraced model, "
                f"expected at most {LARGEST_DIFFERENCE:g}"
            )
        if not torch.equal(run(traced, inputs).argmax(dim=-1), run(untraced, inputs).argmax(dim=-1)):
            raise Refused(f"model.pt: answers of shape {shape} differ from those of the untraced model")
    return largest_difference(traced, untraced, batches)


def largest_difference(one, other, batches: list[list[torch.Tensor]]) -> float:
    return max((run(one, inputs) - run(other, inputs)).abs().max().item() for inputs in batches)


def run(model, inputs: list[torch.Tensor]) -> torch.Tensor:
    """Start and end logits of shape [2, batch, sequence], those of padding pushed far below any answer."""
    attention_mask = inputs[1]
    with torch.no_grad():
        return torch.stack(model(*inputs)).masked_fill(attention_mask == 0, -1e4)


def tokens_per_second(traced, batches: list[list[torch.Tensor]], repetitions: int = 50) -> float:
    """The speed of one sequence of 128 tokens, or of the longest one if that is shorter."""
    inputs = [tensor[:1, :128].contiguous() for tensor in batches[-1]]
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    run(traced, inputs)
    started = time.perf_counter()
    for _ in range(repetitions):
        run(traced, inputs)
    seconds = time.perf_counter() - started
    torch.set_num_threads(threads)
    return inputs[0].numel() * repetitions / seconds


def write_json(path: Path, value: dict, indent: int | None) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8")


def silence_expected_warnings() -> None:
    """Tracing and quantisation are deprecated in torch, but nothing else makes a file that libtorch 2.7 reads."""
    warnings.filterwarnings("ignore", category=DeprecationWarning)
    warnings.filterwarnings("ignore", category=UserWarning, message=".*quantized tensor creation functions.*")
    warnings.filterwarnings("ignore", category=torch.jit.TracerWarning)
    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()


if __name__ == "__main__":
    main()
