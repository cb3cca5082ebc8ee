import sys
from pathlib import Path

import torch

sys.path[:0] = [str(Path(__file__).parents[1]), str(Path(__file__).parent)]
import artifacts
from inference import Net

python, berth = artifacts.directories()
torch.manual_seed(7)
model = Net().eval()
torch.save(model.state_dict(), python / "model.pth")
torch.jit.trace(model, torch.randn(2, 1, 28, 28)).save(berth / "model.pt")
