"""Traces a BERT-like encoder into what the embeddings example serves: `model.pt` and `tokenizer.json`.

    pip install torch transformers tokenizers numpy
    python examples/embeddings/make.py MODEL OUTPUT

MODEL is a Hugging Face ID or directory, such as sentence-transformers/all-MiniLM-L6-v2. Beside the two files,
`encoder.json` says what a caller must know of them, and `expected.json` holds the cosines of three sentences, to test a
server with. The encoder of this directory comes from `distil.py`:

    cd examples/embeddings && python make.py small-encoder . --precision int8 @credits.args
"""

import argparse
import json
import sys
from pathlib import Path

import tokenizers
import torch
import transformers

import encoder
import int8

sys.path.append(str(Path(__file__).resolve().parents[1]))
import saving

from model import longest_sequence, padding_id
from tokenizer import load_tokenizer_json

SENTENCES = [
    "A man is playing the guitar on a stage.",
    "Somebody performs a song with his guitar.",
    "The train to the coast was cancelled because of the snow.",
]

# Another CPU or libtorch sums in another order; far less than this comes of it.
TOLERANCE = 0.02


def main() -> None:
    parser = argparse.ArgumentParser(description="Trace a sentence encoder.", fromfile_prefix_chars="@")
    parser.add_argument("model", help="Hugging Face model ID, or a directory in that layout")
    parser.add_argument("output", type=Path, help="directory to write to")
    parser.add_argument("--precision", choices=["fp32", "int8"], default="fp32", help="of the weights")
    parser.add_argument("--licence", help="licence of the weights, kept in encoder.json")
    parser.add_argument("--attribution", action="append", default=[], help="a work to credit; may be repeated")
    arguments = parser.parse_args()

    transformers.logging.set_verbosity_error()
    transformers.logging.disable_progress_bar()
    model = transformers.AutoModel.from_pretrained(arguments.model).float().eval()
    # It is no part of the answer, and often untrained.
    model.pooler = None
    description = {
        "maxSequenceLength": longest_sequence(model),
        "dimension": model.config.hidden_size,
        "padding": padding_id(model),
        "precision": arguments.precision,
        "licence": arguments.licence,
        "attribution": arguments.attribution,
    }
    tokenizer_json = load_tokenizer_json(arguments.model, model.get_input_embeddings().weight.shape[0])
    tokenizer = tokenizers.Tokenizer.from_str(json.dumps(tokenizer_json))
    if arguments.precision == "int8":
        int8.quantise(model)

    longest = description["maxSequenceLength"]
    texts = [SENTENCES, SENTENCES[:1], [*SENTENCES, "Short.", "No."], [" ".join(SENTENCES * longest)]]
    batches = [encoder.batch(tokenizer, sentences, longest) for sentences in texts]
    saving.save(encoder.TokenEmbeddings(model), arguments.output / "model.pt", batches, frozen=False)
    write_json(arguments.output / "tokenizer.json", tokenizer_json, indent=None)
    write_json(arguments.output / "encoder.json", description, indent=2)

    served = torch.jit.load(arguments.output / "model.pt")
    embedded = encoder.embed(served, tokenizer, SENTENCES, longest)
    cosines = [[round(cosine, 4) for cosine in row] for row in (embedded @ embedded.T).tolist()]
    expected = {"sentences": SENTENCES, "cosines": cosines, "tolerance": TOLERANCE}
    write_json(arguments.output / "expected.json", expected, indent=2)
    print(*cosines, sep="\n")


def write_json(path: Path, value: dict, indent: int | None) -> None:
    path.write_text(json.dumps(value, ensure_ascii=False, indent=indent) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
