"""Draws pictures of coloured shapes, to train and to show a small classifier with."""

import math
import random

from PIL import Image, ImageDraw, ImageFilter

COLOURS = {"red": (205, 45, 45), "blue": (45, 80, 205)}

# Corners of a shape as (angle in turns, distance from its middle); a circle has none.
CORNERS = {
    "circle": [],
    "square": [(0.125 + corner / 4, 1.0) for corner in range(4)],
    "triangle": [(corner / 3, 1.0) for corner in range(3)],
    "star": [(corner / 10, 0.42 if corner % 2 else 1.0) for corner in range(10)],
    "cross": [(arm / 4 + turn, far) for arm in range(4) for turn, far in ((-0.045, 1.0), (0.045, 1.0), (0.125, 0.39))],
}
# By how many turns a shape is turned to stand as usual.
UPRIGHT = {"square": 0, "triangle": -0.25, "star": -0.25, "cross": 0}
LABELS = [f"{colour} {shape}" for colour in COLOURS for shape in CORNERS]


def draw(label: str, width: int, height: int, chance: random.Random) -> Image.Image:
    """One shape somewhere about the middle of a dim, uneven background; the same chance draws the same picture."""
    colour, shape = label.split()
    picture = background(width, height, chance)
    radius = min(width, height) * chance.uniform(0.25, 0.38)
    middle = [size / 2 + chance.uniform(-0.5, 0.5) * (min(width, height) / 2 - radius) for size in (width, height)]
    fill = tuple(min(255, max(0, part + chance.randint(-35, 35))) for part in COLOURS[colour])
    pen = ImageDraw.Draw(picture)
    if CORNERS[shape]:
        turned = UPRIGHT[shape] + chance.uniform(-0.05, 0.05)
        pen.polygon([at(middle, radius, turned + angle, far) for angle, far in CORNERS[shape]], fill)
    else:
        pen.ellipse([*(place - radius for place in middle), *(place + radius for place in middle)], fill)
    return picture.filter(ImageFilter.GaussianBlur(min(width, height) / 224 * chance.uniform(0.4, 1.2)))


def background(width: int, height: int, chance: random.Random) -> Image.Image:
    """A few grey or brownish patches that run into one another."""
    patches = Image.new("RGB", (3, 3))
    for place in range(9):
        grey = chance.randint(50, 230)
        patches.putpixel((place % 3, place // 3), tuple(grey + chance.randint(-20, 20) for _ in range(3)))
    return patches.resize((width, height), Image.Resampling.BICUBIC)


def at(middle: list[float], radius: float, angle: float, far: float) -> tuple[float, float]:
    turn = 2 * math.pi * angle
    return middle[0] + radius * far * math.cos(turn), middle[1] + radius * far * math.sin(turn)
