"""Trains the generator by flow matching, and measures what it draws.

    pip install torch
    python examples/text-to-image/train.py

It takes some four minutes of one core, and writes `model.pt` and `words.txt`.
"""

import random
import sys
import time
from pathlib import Path

import torch

import measure
import scenes
from network import Generator, Network

sys.path.append(str(Path(__file__).resolve().parents[1]))
import saving

HERE = Path(__file__).parent
SCENES = 60_000
STEPS = 12_000
BATCH = 256
LEAST_AHEAD = 0.1  # nearer to the end of its way an error counts no more than here
KEPT = 0.998  # of the average of the weights, which is what is saved


def main() -> None:
    torch.set_num_threads(1)
    torch.manual_seed(7)
    generator = Generator(train())
    inputs = [torch.tensor([scenes.tokens("a red circle")]), torch.randn(1, scenes.NUMBERS)]
    saving.save(generator, HERE / "model.pt", [[*inputs, torch.full([1], at)] for at in (0.0, 0.5, 0.95)])
    (HERE / "words.txt").write_text("".join(f"{word}\n" for word in scenes.WORDS))
    print(measure.shares(generator))


def train() -> Network:
    chance = random.Random(7)
    drawn = [scenes.Scene.any(chance) for _ in range(SCENES)]
    tokens = torch.tensor([scenes.tokens(scene.prompt()) for scene in drawn])
    vectors = torch.tensor([scenes.vector(scene, chance) for scene in drawn])
    network = Network()
    average = torch.optim.swa_utils.AveragedModel(network, multi_avg_fn=torch.optim.swa_utils.get_ema_multi_avg_fn(KEPT))
    optimizer = torch.optim.AdamW(network.parameters(), weight_decay=1e-4, betas=(0.9, 0.99))
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, 2e-3, total_steps=STEPS, pct_start=0.05)
    lately = 0.0
    begun = time.monotonic()
    for step in range(STEPS):
        chosen = torch.randint(SCENES, [BATCH])
        loss = error(network, tokens[chosen], vectors[chosen])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        schedule.step()
        average.update_parameters(network)
        lately += loss.item()
        if (step + 1) % 1000 == 0:
            print(f"{step + 1} of {STEPS}, {time.monotonic() - begun:.0f} s: loss {lately / 1000:.4f}", flush=True)
            lately = 0.0
    return average.module


def error(network: Network, tokens: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """How far the network's guess is from the scene, somewhere on the way from noise to it."""
    at = torch.rand(len(vectors))
    ahead = 1 - at[:, None]
    guess = network(tokens, vectors + ahead * (torch.randn_like(vectors) - vectors), at)
    return ((guess - vectors).square() / ahead.clamp(min=LEAST_AHEAD)).mean()


if __name__ == "__main__":
    main()
