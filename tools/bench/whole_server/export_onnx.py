"""Writes a Hugging Face question-answering model as an ONNX file in int8, and compares its answers with the sample's.

python -m whole_server.export_onnx DIRECTORY OUTPUT TRACED TOKENIZER QUESTIONS

The linear layers and the word embedding are quantised, with weights of one scale a channel; activations are while it
runs. That is what the sample has. Too few equal answers are an error: the two would not be the same model.
"""

import json
import sys
import tempfile
from pathlib import Path

import onnx
import torch
from onnxruntime.quantization import QuantType, quantize_dynamic
from transformers import AutoModelForQuestionAnswering

from whole_server.answering import Answerer
from whole_server.onnx_answering import OnnxAnswerer

INPUTS = ["input_ids", "attention_mask", "token_type_ids"]
OUTPUTS = ["start_logits", "end_logits"]
# It stays fp32, as in the sample: its rounding would go straight into the scores.
HEAD = "qa_outputs"
# Rows and tokens of the example, other than 1, so that nothing takes them for a constant.
EXAMPLE = (2, 24)
# Both round, each in its own way. The sample's own artifact has 0.92 of the answers in fp32.
LEAST_EQUAL = 0.8


def export(directory: Path, output: Path) -> None:
    # Its other attention is one operator that ONNX has no form for.
    model = AutoModelForQuestionAnswering.from_pretrained(directory, dtype=torch.float32, attn_implementation="eager").eval()
    model.config.return_dict = False
    ones = torch.ones(EXAMPLE, dtype=torch.long)
    axes = {name: {0: "rows", 1: "tokens"} for name in INPUTS + OUTPUTS}
    with tempfile.TemporaryDirectory() as scratch, torch.inference_mode():
        exact = Path(scratch) / "model.onnx"
        torch.onnx.export(
            model, (ones, ones, torch.zeros_like(ones)), str(exact), input_names=INPUTS, output_names=OUTPUTS,
            dynamic_axes=axes, opset_version=17, dynamo=False,
        )  # fmt: skip
        # Weights of 7 bits, as in the sample: AVX2 adds two products in 16 bits.
        head = [node.name for node in onnx.load(exact, load_external_data=False).graph.node if HEAD in node.name]
        quantize_dynamic(
            exact, output, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8, nodes_to_exclude=head
        )


def equal_answers(output: Path, traced: Path, tokenizer: Path, questions: Path) -> tuple[int, int]:
    with torch.inference_mode():
        one, other = OnnxAnswerer(output, tokenizer, 1), Answerer(traced, tokenizer, 1)
    asked = [json.loads(line) for line in questions.read_text(encoding="utf-8").splitlines()]
    pairs = [[answerer.answer(body["question"], body["context"])["answer"] for answerer in (one, other)] for body in asked]
    return sum(found == expected for found, expected in pairs), len(pairs)


def main(directory: str, output: str, *compared: str) -> None:
    export(Path(directory), Path(output))
    equal, asked = equal_answers(Path(output), *map(Path, compared))
    if equal < LEAST_EQUAL * asked:
        Path(output).unlink()
        sys.exit(f"{equal} of {asked} answers are the sample's, expected {LEAST_EQUAL:.0%} at least")
    print(f"{equal} of {asked} answers are the sample's")


if __name__ == "__main__":
    main(*sys.argv[1:])
