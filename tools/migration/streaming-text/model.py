import json
import sys
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[1]))
import artifacts

WORDS = "the a cat dog baker film sees likes makes and or it is old new good in of with for".split()


class Writer(nn.Module):
    """The logits of the next word of each text."""

    def __init__(self):
        super().__init__()
        self.words = nn.Embedding(len(WORDS), 16)
        self.memory = nn.GRU(16, 32, batch_first=True)
        self.next = nn.Linear(32, len(WORDS))

    def forward(self, tokens):
        return self.next(self.memory(4 * self.words(tokens))[0][:, -1])


torch.manual_seed(7)
writer = Writer().eval()
for directory in artifacts.directories():
    torch.jit.trace(writer, torch.zeros(1, 3, dtype=torch.int64)).save(directory / "model.pt")
    (directory / "vocabulary.json").write_text(json.dumps(WORDS), encoding="utf-8")
