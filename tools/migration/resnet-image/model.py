import json
import sys
from pathlib import Path

import torch
from torchvision import models

sys.path.insert(0, str(Path(__file__).parents[1]))
import artifacts

python, berth = artifacts.directories()
classes = ["cat", "dog", "horse", "ship", "lorry", "plane"]
torch.manual_seed(7)
model = models.resnet18(num_classes=len(classes))
# The statistics of random pictures, or the logits of an untrained network are far apart.
model.train()(torch.randn(16, 3, 64, 64))
model.eval()
torch.save(model.state_dict(), python / "model.pth")
(python / "classes.json").write_text(json.dumps(classes), encoding="utf-8")

torch.jit.trace(model, torch.randn(2, 3, 64, 64)).save(berth / "model.pt")
artifacts.describe(
    berth,
    task="image-classification",
    target="cpu",
    precision="fp32",
    shapes="dynamic",
    inputs=["pixel_values"],
    outputs=["logits"],
    files=[{"path": "model.pt"}],
    labels=classes,
    parameters={"top_k": 5, "function_to_apply": "softmax"},
    image={
        "resize": {"shorterSide": 72},
        "filter": "bilinear",
        "crop": {"height": 64, "width": 64},
        "scale": 1 / 255,
        "mean": [0.485, 0.456, 0.406],
        "deviation": [0.229, 0.224, 0.225],
        "channels": "rgb",
    },
)
