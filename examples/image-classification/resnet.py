"""ResNet-50 (He et al., Deep Residual Learning for Image Recognition, 2015) in plain torch."""

import torch
from torch import nn
from torch.nn import functional

# Of each stage: its blocks, its channels inside a block, its stride.
STAGES = [(3, 64, 1), (4, 128, 2), (6, 256, 2), (3, 512, 2)]
EXPANSION = 4


class Bottleneck(nn.Module):
    """Three convolutions around which the input flows too."""

    def __init__(self, inputs: int, channels: int, stride: int):
        super().__init__()
        outputs = channels * EXPANSION
        self.convolutions = nn.Sequential(
            *normalised(inputs, channels, 1, 1),
            nn.ReLU(),
            *normalised(channels, channels, 3, stride),
            nn.ReLU(),
            *normalised(channels, outputs, 1, 1),
        )
        reshapes = stride != 1 or inputs != outputs
        self.shortcut = nn.Sequential(*normalised(inputs, outputs, 1, stride)) if reshapes else nn.Identity()

    def forward(self, pictures: torch.Tensor) -> torch.Tensor:
        return functional.relu(self.convolutions(pictures) + self.shortcut(pictures))


def normalised(inputs: int, outputs: int, kernel: int, stride: int) -> list[nn.Module]:
    convolution = nn.Conv2d(inputs, outputs, kernel, stride, padding=kernel // 2, bias=False)
    return [convolution, nn.BatchNorm2d(outputs)]


def resnet50(classes: int) -> nn.Sequential:
    """[n, 3, 224, 224] to logits of shape [n, classes]."""
    layers = [*normalised(3, 64, 7, 2), nn.ReLU(), nn.MaxPool2d(3, 2, padding=1)]
    inputs = 64
    for blocks, channels, stride in STAGES:
        for block in range(blocks):
            layers.append(Bottleneck(inputs, channels, stride if block == 0 else 1))
            inputs = channels * EXPANSION
    return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(inputs, classes))
