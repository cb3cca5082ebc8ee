import sys
from pathlib import Path

import joblib
import numpy as np
import torch
from skl2onnx import to_onnx
from sklearn.ensemble import RandomForestClassifier
from torch import nn

sys.path.insert(0, str(Path(__file__).parents[1]))
import artifacts

python, berth = artifacts.directories()
rng = np.random.default_rng(7)
rows = rng.normal(size=(500, 4)).astype(np.float32)
classes = np.digitize(rows @ [1, -1, 0.5, 0.2], [-0.5, 0.7])
forest = RandomForestClassifier(20, max_depth=4, random_state=7).fit(rows, classes)
joblib.dump(forest, python / "forest.joblib")
(berth / "forest.onnx").write_bytes(to_onnx(forest, rows[:1], options={"zipmap": False}).SerializeToString())

torch.manual_seed(7)
network = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)).eval()
for directory in (python, berth):
    torch.jit.trace(network, torch.randn(2, 4)).save(directory / "network.pt")
