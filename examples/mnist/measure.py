"""Measures a served digit classifier: posts every PNG of a directory and counts the right answers.

A picture's label is the first character of its name, as `train.py --pictures` writes them.

    python examples/mnist/measure.py held-out
"""

import argparse
import json
import urllib.request
from pathlib import Path


def main() -> None:
    parser = argparse.ArgumentParser(description="Measure a served classifier of handwritten digits.")
    parser.add_argument("pictures", type=Path, help="a directory of PNGs")
    parser.add_argument("--url", default="http://localhost:8080/invocations")
    arguments = parser.parse_args()

    pictures = sorted(arguments.pictures.glob("*.png"))
    if not pictures:
        raise SystemExit(f"{arguments.pictures}: there is no PNG in it")
    wrong = [picture.name for picture in pictures if predict(arguments.url, picture) != picture.name[0]]
    right = len(pictures) - len(wrong)
    print(f"{right} of {len(pictures)} right: {right / len(pictures):.1%}")
    if wrong:
        print("wrong:", " ".join(wrong))


def predict(url: str, picture: Path) -> str:
    headers = {"Content-Type": "application/x-image", "Accept": "application/json"}
    request = urllib.request.Request(url, picture.read_bytes(), headers)
    with urllib.request.urlopen(request) as response:
        return str(json.load(response)["predictions"])


if __name__ == "__main__":
    main()
