"""What an image processor does to a picture, said in the words of model.json and proved on pictures.

The server follows the processors that work with Pillow. Where torchvision is installed, transformers takes others, whose
values from 0 to 255 may differ by 1.
"""

import numpy as np
import transformers
from PIL import Image

from refused import Refused, first_line

FILE = "preprocessor_config.json"

# By Pillow's numbers for its filters.
FILTERS = ["nearest", "lanczos", "bilinear", "bicubic", "box", "hamming"]

# Of the numbers that a model gets, which are about 1. Factors are applied in another order.
TOLERATED = 1e-5


def load_processor(name: str):
    """The model's own, which works with Pillow."""
    try:
        # Versions before 5 know `use_fast`, later ones `backend`.
        old = int(transformers.__version__.split(".")[0]) < 5
        choice = {"use_fast": False} if old else {"backend": "pil"}
        return transformers.AutoImageProcessor.from_pretrained(name, **choice)
    except Exception as error:
        raise Refused(f"--model {name}: has no image processor: {first_line(error)}") from error


def describe(processor) -> dict:
    """What model.json says, by what the processor's file says."""

    def asked(name: str):
        return getattr(processor, f"do_{name}", None)

    described = resizing(processor) if asked("resize") else {}
    if asked("center_crop"):
        described["crop"] = sides(processor.crop_size, "crop_size")
    mean, deviation = np.zeros(3), np.ones(3)
    if asked("normalize"):
        mean, deviation = (np.ones(3) * value for value in (processor.image_mean, processor.image_std))
    if asked("rescale") and getattr(processor, "rescale_offset", False):
        # Values are from -1 to 1 then.
        mean = mean + 1
    if getattr(processor, "include_top", False):
        # EfficientNet's divides twice.
        deviation = deviation * processor.image_std
    return described | {
        "scale": processor.rescale_factor if asked("rescale") else 1.0,
        "mean": [float(value) for value in mean],
        "deviation": [float(value) for value in deviation],
        "channels": "bgr" if asked("flip_channel_order") else "rgb",
    }


def resizing(processor) -> dict:
    """The size, and the crop that belongs to it where the processor has a `crop_pct`."""
    filter = {"filter": FILTERS[int(processor.resample)]}
    size, share = dict(processor.size), getattr(processor, "crop_pct", None)
    size = {name: value for name, value in sorted(size.items()) if value}
    if set(size) == {"height", "width"}:
        return {"resize": sides(size, "size"), **filter}
    if set(size) != {"shortest_edge"}:
        raise Refused(f"{FILE}: size: found {size}, expected a height and a width, or a shortest_edge")
    shorter = size["shortest_edge"]
    if share is None:
        return {"resize": {"shorterSide": shorter}, **filter}
    square = {"height": shorter, "width": shorter}
    # Large pictures are not cut, and not kept in shape either.
    if shorter >= 384 and not getattr(processor, "do_center_crop", None):
        return {"resize": square, **filter}
    return {"resize": {"shorterSide": int(shorter / share)}, **filter, "crop": square}


def sides(size, name: str) -> dict:
    found = {side: value for side, value in dict(size).items() if value}
    if set(found) != {"height", "width"}:
        raise Refused(f"{FILE}: {name}: found {found}, expected a height and a width")
    return {"height": found["height"], "width": found["width"]}


def input_size(described: dict) -> tuple[int, int]:
    """The height and the width of what the model gets."""
    size = described.get("crop") or described.get("resize", {})
    if "height" not in size:
        raise Refused(f"{FILE}: found neither a crop nor a resize to a height and a width, expected pictures of one size")
    return size["height"], size["width"]


def prepare(described: dict, picture: Image.Image) -> np.ndarray:
    """What the server makes of a picture, from what model.json says: float32 of [3, height, width]."""
    if "resize" in described:
        filter = FILTERS.index(described["filter"])
        picture = picture.resize(resized(described["resize"], *picture.size), filter)
    if "crop" in described:
        width, height = described["crop"]["width"], described["crop"]["height"]
        left, top = (picture.width - width) // 2, (picture.height - height) // 2
        # Pillow adds black where this reaches beyond the picture.
        picture = picture.crop((left, top, left + width, top + height))
    values = np.asarray(picture, np.float64) * described["scale"]
    if described["channels"] == "bgr":
        values = values[:, :, ::-1]
    numbers = (values - described["mean"]) / described["deviation"]
    return numbers.transpose(2, 0, 1).astype(np.float32)


def resized(size: dict, width: int, height: int) -> tuple[int, int]:
    if "height" in size:
        return size["width"], size["height"]
    shorter = size["shorterSide"]
    longer = int(shorter * max(width, height) / min(width, height))
    return (shorter, longer) if width <= height else (longer, shorter)


def prove(processor, described: dict, pictures: list[Image.Image]) -> None:
    """Refuses a processor that does anything else than what is described."""
    for picture in pictures:
        found = np.asarray(processor(images=picture, return_tensors="np")["pixel_values"][0], np.float32)
        ours = prepare(described, picture)
        if found.shape != ours.shape or not np.abs(found - ours).max() <= TOLERATED:
            raise Refused(
                f"{FILE}: {type(processor).__name__} makes something else of a picture of {picture.width} x "
                f"{picture.height} than a resize, a crop and a mean and a deviation of its colours"
            )
