"""A ResNet: a picture is answered by its likeliest classes."""

import io
import json
import os

import torch
from PIL import Image
from torchvision import models, transforms

preprocess = transforms.Compose(
    [
        transforms.Resize(72),
        transforms.CenterCrop(64),
        transforms.ToTensor(),
        transforms.Normalize(mean=[0.485, 0.456, 0.406], std=[0.229, 0.224, 0.225]),
    ]
)


def model_fn(model_dir):
    with open(os.path.join(model_dir, "classes.json")) as file:
        classes = json.load(file)
    model = models.resnet18(num_classes=len(classes))
    model.load_state_dict(torch.load(os.path.join(model_dir, "model.pth"), map_location="cpu"))
    return model.eval(), classes


def input_fn(request_body, request_content_type):
    if request_content_type not in ("application/x-image", "image/jpeg", "image/png"):
        raise ValueError(f"Unsupported content type: {request_content_type}")
    return preprocess(Image.open(io.BytesIO(request_body)).convert("RGB")).unsqueeze(0)


def predict_fn(input_object, model_and_classes):
    model, classes = model_and_classes
    with torch.no_grad():
        probabilities = torch.nn.functional.softmax(model(input_object)[0], dim=0)
    scores, indexes = torch.topk(probabilities, 5)
    return [{"label": classes[i], "score": s} for s, i in zip(scores.tolist(), indexes.tolist())]


def output_fn(predictions, accept):
    return json.dumps(predictions), accept
