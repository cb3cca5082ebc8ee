"""Draws what the generator learns: coloured shapes on a plain background, with the prompt that names them.

Nothing is downloaded: the pictures are drawn here, so they are under the repository's licence.
"""

import math
import random
from dataclasses import dataclass

import torch
from torch.nn import functional

SIDE = 64
MOST_SHAPES = 3
COLOURS = {
    "red": (220, 40, 45), "orange": (250, 145, 30), "yellow": (250, 220, 50), "green": (45, 160, 75),
    "blue": (40, 90, 215), "purple": (130, 60, 170), "white": (250, 250, 250), "black": (25, 25, 30),
}
SHAPES = ("circle", "square", "triangle", "star", "cross", "ring")
COUNTS = ("a", "two", "three")
# The radius of a shape in pixels, by its size and by how many there are.
RADII = {"small": (9, 11), "big": (18, 22), None: (12, 17)}
RADII_OF_SEVERAL = {"small": (8, 9), "big": (12, 13.5), None: (9, 12)}

# 0 fills a prompt up. A word's place is its token.
PLURALS = ("circles", "squares", "triangles", "stars", "crosses", "rings")
WORDS = ["", *COUNTS, "small", "big", *COLOURS, *SHAPES, *PLURALS, "on", "background"]
MOST_WORDS = 10
NUMBERS = len(SHAPES) + 2 * 3 + MOST_SHAPES * 4


@dataclass(frozen=True)
class Scene:
    count: int
    size: str | None
    colour: str
    shape: str
    background: str | None

    @staticmethod
    def any(chance: random.Random) -> "Scene":
        colour, background = chance.sample(list(COLOURS), 2)
        return Scene(
            chance.choice((1, 1, 2, 3)), chance.choice(("small", "big", None)), colour, chance.choice(SHAPES),
            background if chance.random() < 0.75 else None)

    def prompt(self) -> str:
        """The words, such as "two small red stars on a blue background"."""
        shape = self.shape if self.count == 1 else PLURALS[SHAPES.index(self.shape)]
        words = [COUNTS[self.count - 1], self.size, self.colour, shape]
        words += ["on", "a", self.background, "background"] if self.background else []
        return " ".join(word for word in words if word)

    def places(self, chance: random.Random) -> list[tuple[float, float, float]]:
        """The middle and the radius of each shape. They don't touch each other or the edge."""
        least, most = (RADII if self.count == 1 else RADII_OF_SEVERAL)[self.size]
        while True:
            radius = chance.uniform(least, most)
            places: list[tuple[float, float, float]] = []
            for _ in range(60):
                x, y = (chance.uniform(radius + 1, SIDE - radius - 1) for _ in range(2))
                if all(math.dist((x, y), other[:2]) > 2 * radius + 3 for other in places):
                    places.append((x, y, radius))
                    if len(places) == self.count:
                        return places


def tokens(prompt: str) -> list[int]:
    """What the generator reads of a prompt, as code/Prompts.java does it."""
    ids = [WORDS.index(word) for word in prompt.split()]
    return ids + [0] * (MOST_WORDS - len(ids))


def inside(shape: str, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """How far inside of a shape of radius 1 a place is; negative outside."""
    away = torch.hypot(x, y)
    if shape == "circle":
        return 1 - away
    if shape == "ring":
        return 0.22 - (away - 0.78).abs()
    if shape == "cross":
        far, near = torch.maximum(x.abs(), y.abs()), torch.minimum(x.abs(), y.abs())
        return torch.minimum(1 - far, 0.3 - near)
    if shape == "square":
        return 0.85 - torch.maximum(x.abs(), y.abs())
    # Triangle and star are their corners' sectors, folded onto half of one. An edge leaves the corner at an angle.
    corners, edge = (3, math.pi / 6) if shape == "triangle" else (5, math.pi / 10)
    sector = 2 * math.pi / corners
    turned = torch.atan2(x, -y)
    folded = (turned - sector * torch.round(turned / sector)).abs()
    return math.sin(edge) - away * torch.sin(edge + folded)


def vector(scene: Scene, chance: random.Random) -> list[float]:
    """What the generator learns of a scene: its shape, its two colours, and whether and where each of three shapes is."""
    others = [name for name in COLOURS if name != scene.colour]
    numbers = [1.0 if shape == scene.shape else -1.0 for shape in SHAPES]
    numbers += [part / 127.5 - 1 for name in (scene.colour, scene.background or chance.choice(others)) for part in COLOURS[name]]
    for x, y, radius in scene.places(chance):
        numbers += [1.0, x / 32 - 1, y / 32 - 1, (radius - 12) / 5]
    return numbers + [-1.0, 0.0, 0.0, 0.0] * (MOST_SHAPES - scene.count)


def draw(vectors: torch.Tensor, rows: torch.Tensor, columns: torch.Tensor) -> torch.Tensor:
    """[n, 24] to [n, 3, 64, 64], red, green and blue from -1 to 1, with smooth edges."""
    kinds = len(SHAPES)
    chosen = functional.one_hot(vectors[:, :kinds].argmax(1), kinds)[:, :, None, None]
    colours = vectors[:, kinds:kinds + 6].clamp(-1, 1).reshape(-1, 2, 3, 1, 1)
    picture = colours[:, 1].expand(-1, 3, SIDE, SIDE)
    for i in range(MOST_SHAPES):
        there, x, y, size = (vectors[:, kinds + 6 + 4 * i + j, None, None] for j in range(4))
        radius = (size * 5 + 12).clamp(min=2)
        across, down = (columns - (x + 1) * 32) / radius, (rows - (y + 1) * 32) / radius
        deep = (torch.stack([inside(shape, across, down) for shape in SHAPES], 1) * chosen).sum(1) * radius
        covered = ((deep + 0.5).clamp(0, 1) * (there > 0))[:, None]
        picture = picture + covered * (colours[:, 0] - picture)
    return picture


def colour(name: str) -> torch.Tensor:
    return torch.tensor(COLOURS[name]).view(3, 1, 1) / 127.5 - 1
