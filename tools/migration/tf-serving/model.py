import sys
from pathlib import Path

import torch
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[1]))
import artifacts

torch.manual_seed(7)
model = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 2)).eval()
for directory in artifacts.directories():
    torch.jit.trace(model, torch.randn(2, 3)).save(directory / "model.pt")
