"""Tiny image classifiers of random weights in Hugging Face's layout with their processors, for the tests."""

from pathlib import Path

import torch
import transformers

import preparation
from pictures import drawn

LABELS = ["a circle", "a cross", "a square", "a star", "a triangle", "nothing"]
BICUBIC = 3


def vit() -> tuple:
    config = transformers.ViTConfig(
        hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32, image_size=32, patch_size=8,
        initializer_range=0.5, **named(),
    )  # fmt: skip
    processor = transformers.ViTImageProcessorPil(size={"height": 32, "width": 32}, image_mean=[0.5] * 3, image_std=[0.5] * 3)
    return config, processor


def resnet() -> tuple:
    """Its processor resizes to more and cuts that."""
    config = transformers.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 16], depths=[1, 1], layer_type="basic", **named()
    )
    processor = transformers.ConvNextImageProcessorPil(size={"shortest_edge": 35}, crop_pct=0.875, resample=BICUBIC)
    return config, processor


def mobilenet() -> tuple:
    config = transformers.MobileNetV2Config(
        depth_multiplier=0.1, min_depth=4, depth_divisible_by=4, image_size=48,
        finegrained_output=False, **named(),
    )  # fmt: skip
    processor = transformers.MobileNetV2ImageProcessorPil(
        size={"shortest_edge": 55}, crop_size={"height": 48, "width": 48}, image_mean=[0.4, 0.5, 0.6], image_std=[0.2, 0.3, 0.4]
    )
    return config, processor


FAMILIES = {"vit": vit, "resnet": resnet, "mobilenet": mobilenet}


def named() -> dict:
    return {"id2label": dict(enumerate(LABELS)), "label2id": {name: number for number, name in enumerate(LABELS)}}


def save(family: str, directory: Path, **more) -> Path:
    """A model and its processor; `more` goes into config.json."""
    config, processor = FAMILIES[family]()
    config.update(more)
    torch.manual_seed(7)
    model = transformers.AutoModelForImageClassification.from_config(config)
    with torch.no_grad():
        for name, weights in model.named_parameters():
            # Fresh ones answer everything alike.
            if name.startswith("classifier") and weights.dim() == 2:
                weights.normal_(std=4 / weights.shape[1] ** 0.5)
        # Normalisation learns what is normal for pictures.
        described = preparation.describe(processor)
        batch = torch.stack([torch.from_numpy(preparation.prepare(described, drawn(number))) for number in range(20)])
        model.train()
        for module in model.modules():
            if isinstance(module, torch.nn.BatchNorm2d):
                module.momentum = None
        model(pixel_values=batch)
    model.save_pretrained(directory)
    processor.save_pretrained(directory)
    return directory
