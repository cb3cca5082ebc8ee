"""Measures how well an encoder tells paraphrases from other sentences, with `paraphrases.jsonl`.

    python examples/embeddings/measure.py [DIRECTORY]

DIRECTORY is one that `make.py` wrote, by default this one.
"""

import argparse
import json
from pathlib import Path

import tokenizers
import torch

import encoder

HERE = Path(__file__).parent


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a sentence encoder.")
    parser.add_argument("directory", type=Path, nargs="?", default=HERE)
    directory = parser.parse_args().directory
    lines = (HERE / "paraphrases.jsonl").read_text(encoding="utf-8").splitlines()
    rows = [json.loads(line) for line in lines]
    model = torch.jit.load(directory / "model.pt")
    tokenizer = tokenizers.Tokenizer.from_file(str(directory / "tokenizer.json"))
    longest = json.loads((directory / "encoder.json").read_text(encoding="utf-8"))["maxSequenceLength"]
    sentences, paraphrases, unrelated = (
        encoder.embed(model, tokenizer, [row[name] for row in rows], longest)
        for name in ("sentence", "paraphrase", "unrelated")
    )

    cosines = sentences @ paraphrases.T
    near, far = cosines.diagonal(), (sentences * unrelated).sum(1)
    print(f"nearer to its paraphrase than to an unrelated sentence: {(near > far).float().mean():.0%} of {len(rows)}")
    nearest = cosines.argmax(1) == torch.arange(len(rows))
    print(f"nearer to its paraphrase than to any other's: {nearest.float().mean():.0%}")
    print(f"cosines: paraphrases {near.mean():.2f} ({near.min():.2f} to {near.max():.2f}), "
          f"unrelated {far.mean():.2f} ({far.min():.2f} to {far.max():.2f})")  # fmt: skip


if __name__ == "__main__":
    main()
