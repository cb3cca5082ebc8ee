"""An image classifier to trace, and drawn pictures to compare it with. They are the same on every machine."""

import io
import random
from collections.abc import Callable
from typing import NamedTuple

import torch
from PIL import Image, ImageDraw
from torch import nn

import preparation
import verification
from model import at_precision, load_model
from tasks import IMAGE_CLASSIFICATION, Task, image_labels

INPUT = "pixel_values"

# Wide, tall, small, and of odd sides.
SIZES = [(320, 240), (199, 301), (64, 64), (17, 23), (511, 130)]

# How many are compared in fp32 and at a lower precision.
COMPARED = 60


class PixelInputs(nn.Module):
    """Takes a batch of pictures and returns the logits as float32."""

    # As in model.py.
    __module__ = "__main__"

    def __init__(self, model: nn.Module):
        super().__init__()
        self.model = model
        self.inputs = [INPUT]
        self.type = next(model.parameters()).dtype

    def forward(self, pixels):
        return self.model(pixel_values=pixels.to(self.type), return_dict=True).logits.float()


class Pictures(NamedTuple):
    """The model in fp32, its processor, and what that does in the words of model.json."""

    model: nn.Module
    processor: Callable
    described: dict
    task: Task = IMAGE_CLASSIFICATION
    inputs: list[str] = [INPUT]
    unit: str = "pictures"

    def rows(self) -> dict:
        """What model.json says of the pictures that the model takes."""
        names, function = image_labels(self.model.config)
        return {
            "inputs": self.inputs,
            "shapes": "dynamic",
            "image": self.described,
            "labels": names,
            "parameters": {"function_to_apply": function},
        }

    def module(self, precision: str) -> PixelInputs:
        """The untraced model as it is to be traced."""
        return PixelInputs(at_precision(self.model, precision)).eval()

    def for_cpu(self, precision: str) -> PixelInputs:
        return self.module(precision)

    def entries(self, batch_sizes: list[int] | None) -> list[dict]:
        """The files to compile, as model.json names them."""
        return [{"path": f"model-{rows}.pt", "batch": rows} for rows in sorted(set(batch_sizes or [1]))]

    def example(self) -> list[torch.Tensor]:
        return self.batch(2)

    def everywhere(self) -> list[torch.Tensor]:
        return self.example()

    def batches(self) -> list[list[torch.Tensor]]:
        """Each picture alone, and batches of several; none but one as traced."""
        return [self.batch(1, first) for first in range(len(SIZES))] + [self.batch(rows) for rows in (2, 3, 8)]

    def batches_of(self, entry: dict) -> list[list[torch.Tensor]]:
        return [self.batch(entry["batch"], first) for first in range(len(SIZES))]

    def batch(self, rows: int, first: int = 0) -> list[torch.Tensor]:
        pictures = (preparation.prepare(self.described, drawn(first + row)) for row in range(rows))
        return [torch.stack([torch.from_numpy(picture) for picture in pictures])]

    def limit(self) -> str:
        height, width = preparation.input_size(self.described)
        return f"{width} x {height} pixels"

    def usual(self, rows: int) -> tuple[list[torch.Tensor], int]:
        """What the speed is measured with, and how many pictures that is."""
        return self.batch(rows), rows

    def compared(self) -> list[list[torch.Tensor]]:
        return [self.batch(1, number) for number in range(COMPARED)]

    def asked(self) -> list[Image.Image]:
        return [drawn(number) for number in range(len(SIZES))]

    def compiler_arguments(self, arguments: list[str]) -> list[str]:
        """The compiler's own choice of how to optimise: many classifiers are no transformers."""
        return [argument for argument in arguments if not argument.startswith("--model-type")]


def load_pictures(name: str, attention: str | None) -> Pictures:
    model = load_model(name, attention, IMAGE_CLASSIFICATION)
    processor = preparation.load_processor(name)
    described = preparation.describe(processor)
    preparation.input_size(described)
    preparation.prove(processor, described, [drawn(number) for number in range(len(SIZES))])
    pictures = Pictures(model, processor, described)
    verification.verify_rows(type(model).__name__, pictures.module("fp32"), pictures.batch(3))
    return pictures


def drawn(number: int) -> Image.Image:
    """Shapes on colours that run into each other, another picture for each number."""
    chance = random.Random(number)
    size = SIZES[number % len(SIZES)]

    def colour() -> tuple[int, ...]:
        return tuple(chance.randrange(256) for _ in range(3))

    picture = Image.new("RGB", (3, 3))
    picture.putdata([colour() for _ in range(9)])
    picture = picture.resize(size, Image.Resampling.BILINEAR)
    draw = ImageDraw.Draw(picture)
    for shape in (draw.ellipse, draw.rectangle, draw.ellipse):
        left, top = chance.randrange(size[0]), chance.randrange(size[1])
        shape((left, top, left + size[0] // 3, top + size[1] // 3), fill=colour())
    return picture


def png(picture: Image.Image) -> bytes:
    file = io.BytesIO()
    picture.save(file, "PNG")
    return file.getvalue()
