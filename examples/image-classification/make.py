"""Makes an image classifier of ImageNet's conventions: a large one to measure with, or a small one that works.

    pip install torch numpy pillow
    python examples/image-classification/make.py --output resnet-50
    python examples/image-classification/make.py --small

The large one is a ResNet-50 of random weights: as slow as a trained one, and its answers mean nothing. The small one is
trained in a minute or two to name drawn shapes; it is the one in this directory, with its `labels.txt` and `pictures/`.
"""

import argparse
import random
import sys
from pathlib import Path

import numpy
import torch
from PIL import Image
from torch import nn
from torch.nn import functional

import shapes
from resnet import resnet50

sys.path.append(str(Path(__file__).resolve().parents[1]))
import saving

HERE = Path(__file__).parent
SIDE = 224
MEAN = torch.tensor([0.485, 0.456, 0.406]).reshape(3, 1, 1)
DEVIATION = torch.tensor([0.229, 0.224, 0.225]).reshape(3, 1, 1)
TRAINING, HELD_OUT = 3000, 500
EPOCHS = 10
BATCH = 50
SHOWN = {
    "red circle": (320, 240), "blue square": (300, 300), "red triangle": (240, 320),
    "blue star": (280, 280), "red cross": (400, 300), "blue circle": (224, 224),
}  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Make an image classifier.")
    parser.add_argument("--small", action="store_true", help="train a small one instead")
    parser.add_argument("--output", type=Path, default=HERE, help="directory to write to, by default this one")
    parser.add_argument("--classes", type=int, default=1000, help="of the large one")
    arguments = parser.parse_args()

    torch.manual_seed(7)
    if arguments.small:
        model, labels = small(), shapes.LABELS
        write_pictures(arguments.output / "pictures", model)
    else:
        model, labels = large(arguments.classes), [f"class {number}" for number in range(arguments.classes)]
    # A caller reads probabilities, whatever the classes.
    model.append(nn.Softmax(dim=1))
    print(f"{sum(weights.numel() for weights in model.parameters()) / 1e6:.2f} M parameters, {len(labels)} classes")
    saving.save(model, arguments.output / "model.pt", [[torch.randn(count, 3, SIDE, SIDE)] for count in (1, 5)])
    (arguments.output / "labels.txt").write_text("\n".join(labels) + "\n", encoding="utf-8")


def large(classes: int) -> nn.Sequential:
    """Random weights, but norms that know the activations: without, these would grow from block to block."""
    model = resnet50(classes)
    for module in model.modules():
        if isinstance(module, nn.BatchNorm2d):
            module.momentum = None
    with torch.no_grad():
        model(torch.randn(8, 3, SIDE, SIDE))
    return model


def small() -> nn.Sequential:
    blocks = []
    for inputs, outputs, kernel, stride in [(3, 16, 5, 4), (16, 32, 3, 2), (32, 48, 3, 2), (48, 80, 3, 2)]:
        convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
        blocks += [convolution, nn.BatchNorm2d(outputs), nn.ReLU()]
    model = nn.Sequential(*blocks, nn.AdaptiveMaxPool2d(1), nn.Flatten(), nn.Linear(80, len(shapes.LABELS)))
    train(model, *pictures(TRAINING, random.Random(7)))
    measured, labels = pictures(HELD_OUT, random.Random(8))
    print(f"{accuracy(model, measured, labels):.1%} of {HELD_OUT} other pictures right")
    return model


def train(model: nn.Module, training: torch.Tensor, labels: torch.Tensor) -> None:
    optimizer = torch.optim.AdamW(model.parameters())
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 8e-3, epochs=EPOCHS, steps_per_epoch=TRAINING // BATCH)
    for epoch in range(EPOCHS):
        for chosen in torch.randperm(TRAINING).split(BATCH):
            loss = functional.cross_entropy(model(training[chosen]), labels[chosen], label_smoothing=0.02)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss.item():.3f}")


def pictures(count: int, chance: random.Random) -> tuple[torch.Tensor, torch.Tensor]:
    labels = [place % len(shapes.LABELS) for place in range(count)]
    drawn = [shapes.draw(shapes.LABELS[label], *sides(chance), chance) for label in labels]
    return torch.stack([as_input(picture) for picture in drawn]), torch.tensor(labels)


def sides(chance: random.Random) -> list[int]:
    """Not square, so that a picture squeezed into a square is known too."""
    return [chance.randint(SIDE, SIDE * 3 // 2) for _ in range(2)]


def as_input(picture: Image.Image) -> torch.Tensor:
    """[3, 224, 224], normalised as ImageNet's models expect it."""
    values = torch.from_numpy(numpy.array(picture.resize((SIDE, SIDE)))).permute(2, 0, 1) / 255
    return (values - MEAN) / DEVIATION


def accuracy(model: nn.Module, measured: torch.Tensor, labels: torch.Tensor) -> float:
    model.eval()
    with torch.no_grad():
        return (model(measured).argmax(1) == labels).float().mean().item()


def write_pictures(directory: Path, model: nn.Module) -> None:
    """JPEGs to try the model with, of other sizes than its input."""
    directory.mkdir(parents=True, exist_ok=True)
    chance = random.Random(9)
    for label, size in SHOWN.items():
        path = directory / f"{label.replace(' ', '-')}.jpg"
        shapes.draw(label, *size, chance).save(path, quality=85)
        with torch.no_grad():
            answer = shapes.LABELS[model(as_input(Image.open(path))[None]).argmax()]
        print(f"{path.name}, {path.stat().st_size / 1e3:.1f} KB: {answer}")


if __name__ == "__main__":
    main()
