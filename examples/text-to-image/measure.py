"""Judges pictures by their pixels: whether what a prompt names can be found again.

    python examples/text-to-image/measure.py
"""

import random
from pathlib import Path

import torch
from torch.nn import functional

import scenes

HERE = Path(__file__).parent
PROMPTS = 200
STEPS = 20
LEAST_PIXELS = 20  # of what counts as a shape


def main() -> None:
    torch.set_num_threads(1)
    model = torch.jit.load(str(HERE / "model.pt"))
    print(shares(model))


def shares(model: torch.nn.Module) -> str:
    """Of the pictures of prompts that nobody has chosen."""
    chance = random.Random(2026)
    asked = [scenes.Scene.any(chance) for _ in range(PROMPTS)]
    noise = torch.Generator().manual_seed(2026)
    pictures = torch.cat([sample(model, scene.prompt(), noise) for scene in asked])
    right = torch.tensor([judge(picture, scene) for picture, scene in zip(pictures, asked)])
    named = zip(("colours", "number of shapes", "shapes"), right.float().mean(0).tolist())
    return ", ".join([*(f"{name} {share:.1%}" for name, share in named), f"all of it {right.all(1).float().mean():.1%}"])


def sample(model: torch.nn.Module, prompt: str, noise: torch.Generator) -> torch.Tensor:
    """The way from noise to a picture, as code/Painter.java goes it."""
    tokens = torch.tensor([scenes.tokens(prompt)])
    scene = torch.randn(1, scenes.NUMBERS, generator=noise)
    places = torch.linspace(0, 1, STEPS + 1)
    with torch.no_grad():
        for at, there in zip(places[:-1], places[1:]):
            guess = model(tokens, scene, at.view(1))
            scene = scene + (there - at) / (1 - at) * (guess[:, :scenes.NUMBERS] - scene)
    return guess[:, scenes.NUMBERS:].view(1, 3, scenes.SIDE, scenes.SIDE)


def judge(picture: torch.Tensor, scene: scenes.Scene) -> tuple[bool, bool, bool]:
    """Whether the colours, the number of the shapes, and each of the shapes are those of the prompt."""
    names = list(scenes.COLOURS)
    palette = torch.stack([scenes.colour(name) for name in names])
    nearest = (picture[None] - palette).square().sum(1).argmin(0)
    background, colour = nearest.flatten().bincount(minlength=len(names)).topk(2).indices.tolist()
    colours = names[colour] == scene.colour and scene.background in (None, names[background])
    found = components(nearest == colour)
    shapes = [best_shape(component) for component in found]
    return colours, len(found) == scene.count, bool(shapes) and all(shape == scene.shape for shape in shapes)


def components(mask: torch.Tensor) -> list[torch.Tensor]:
    """What hangs together, each cut out."""
    labels = torch.arange(1.0, mask.numel() + 1).view(mask.shape) * mask
    while True:
        spread = functional.max_pool2d(labels[None], 3, stride=1, padding=1)[0] * mask
        if torch.equal(spread, labels):
            break
        labels = spread
    found = [labels == label for label in labels.unique() if label > 0]
    return [cut(part) for part in found if part.sum() >= LEAST_PIXELS]


def best_shape(component: torch.Tensor) -> str:
    def overlap(shape: str) -> float:
        side = torch.linspace(-1, 1, 256)
        y, x = torch.meshgrid(side, side, indexing="ij")
        template = cut(scenes.inside(shape, x, y) > 0).float()
        template = functional.interpolate(template[None, None], size=list(component.shape))[0, 0] > 0
        return ((template & component).sum() / (template | component).sum()).item()

    return max(scenes.SHAPES, key=overlap)


def cut(mask: torch.Tensor) -> torch.Tensor:
    rows, columns = mask.any(1).nonzero().flatten(), mask.any(0).nonzero().flatten()
    return mask[rows[0]:rows[-1] + 1, columns[0]:columns[-1] + 1]


if __name__ == "__main__":
    main()
