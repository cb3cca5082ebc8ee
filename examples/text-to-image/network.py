"""The generator: a flow model that lays a scene out, and a decoder that draws it.

A scene is a vector of 24 numbers. The network has learnt to guess the vector behind the noise, told what is in it by a
prompt's words. The decoder has learnt nothing: it draws what the vector says with formulas.
"""

import math

import torch
from torch import nn
from torch.nn import functional

import scenes

SAID, WIDE = 64, 320


class Network(nn.Module):
    """`forward(tokens, noisy, time)`: int64 [n, words], [n, 24] and [n], from 0 (noise) to 1, to scenes [n, 24]."""

    def __init__(self) -> None:
        super().__init__()
        self.prompt = Prompt(len(scenes.WORDS), scenes.MOST_WORDS)
        self.register_buffer("frequencies", torch.exp(torch.linspace(0, math.log(200.0), 16)))
        self.enter = nn.Linear(scenes.NUMBERS + 32 + SAID, WIDE)
        self.layers = nn.ModuleList([Layer() for _ in range(3)])
        self.leave = nn.Linear(WIDE, scenes.NUMBERS)

    def forward(self, tokens: torch.Tensor, noisy: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        waves = time[:, None] * self.frequencies
        inner = self.enter(torch.cat([noisy, waves.sin(), waves.cos(), self.prompt(tokens)], 1))
        for layer in self.layers:
            inner = inner + layer(inner)
        return self.leave(functional.silu(inner))


class Layer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm, self.first, self.second = nn.LayerNorm(WIDE), nn.Linear(WIDE, WIDE), nn.Linear(WIDE, WIDE)

    def forward(self, inner: torch.Tensor) -> torch.Tensor:
        return self.second(functional.silu(self.first(self.norm(inner))))


class Prompt(nn.Module):
    """One vector of a prompt. A word has its neighbours added, so that a colour knows what it is the colour of."""

    def __init__(self, words: int, longest: int) -> None:
        super().__init__()
        self.words = nn.Embedding(words, SAID, padding_idx=0)
        self.context = nn.Conv1d(SAID, SAID, 3, padding=1)
        self.out = nn.Linear(SAID, SAID)

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        words = self.words(tokens)
        words = words + functional.silu(self.context(words.transpose(1, 2)).transpose(1, 2))
        return self.out((words * (tokens > 0)[:, :, None]).sum(1))


class Generator(nn.Module):
    """The file's `forward`: the guess [n, 24], and behind it the picture of the guess, 3 x 64 x 64 numbers from -1 to 1."""

    def __init__(self, network: Network) -> None:
        super().__init__()
        self.network = network
        rows, columns = torch.meshgrid(torch.arange(scenes.SIDE) + 0.5, torch.arange(scenes.SIDE) + 0.5, indexing="ij")
        self.register_buffer("rows", rows)
        self.register_buffer("columns", columns)

    def forward(self, tokens: torch.Tensor, noisy: torch.Tensor, time: torch.Tensor) -> torch.Tensor:
        guess = self.network(tokens, noisy, time)
        return torch.cat([guess, scenes.draw(guess, self.rows, self.columns).flatten(1)], 1)
