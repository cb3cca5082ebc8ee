"""Traces a Hugging Face question-answering model as the published sample does: fp32, padded to 512.

python -m whole_server.trace_published DIRECTORY OUTPUT
"""

import sys

import torch
from transformers import AutoModelForQuestionAnswering

from whole_server.answering import LONGEST_INPUT


def main(directory: str, output: str) -> None:
    model = AutoModelForQuestionAnswering.from_pretrained(directory, dtype=torch.float32).eval()
    # Tracing takes tuples only.
    model.config.return_dict = False
    ones = torch.ones(1, LONGEST_INPUT, dtype=torch.long)
    with torch.inference_mode():
        traced = torch.jit.trace(model, (ones, ones, torch.zeros_like(ones)))
    traced.save(output)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2])
