"""A detector of one stage: a picture is answered by boxes in its own pixels."""

import io
import json
import os

import numpy as np
import torch
from PIL import Image
from torchvision.ops import batched_nms

SIZE = 128
LABELS = ["person", "bicycle", "car"]
CONFIDENCE = 0.9
OVERLAP = 0.5


def model_fn(model_dir):
    return torch.jit.load(os.path.join(model_dir, "model.pt"), map_location="cpu").eval()


def letterbox(image):
    scale = SIZE / max(image.size)
    width, height = round(image.width * scale), round(image.height * scale)
    left, top = (SIZE - width) // 2, (SIZE - height) // 2
    canvas = Image.new("RGB", (SIZE, SIZE))
    canvas.paste(image.resize((width, height), Image.BILINEAR), (left, top))
    return canvas, scale, left, top


def input_fn(request_body, request_content_type):
    if request_content_type not in ("application/x-image", "image/jpeg", "image/png"):
        raise ValueError(f"Unsupported content type: {request_content_type}")
    image = Image.open(io.BytesIO(request_body)).convert("RGB")
    canvas, scale, left, top = letterbox(image)
    pixels = np.asarray(canvas, dtype=np.float32).transpose(2, 0, 1) / 255
    return torch.from_numpy(pixels).unsqueeze(0), scale, left, top


def predict_fn(input_data, model):
    pixels, scale, left, top = input_data
    with torch.no_grad():
        rows = model(pixels)[0]
    scores, labels = rows[:, 4:].max(dim=1)
    sure = scores > CONFIDENCE
    centres, sizes = rows[sure, :2], rows[sure, 2:4]
    boxes = torch.cat([centres - sizes / 2, centres + sizes / 2], dim=1)
    boxes = (boxes - torch.tensor([left, top, left, top])) / scale
    kept = batched_nms(boxes, scores[sure], labels[sure], OVERLAP)
    return [
        {"label": LABELS[label], "score": score, "box": box}
        for label, score, box in zip(
            labels[sure][kept].tolist(), scores[sure][kept].tolist(), boxes[kept].tolist()
        )
    ]


def output_fn(prediction, accept):
    return json.dumps({"detections": prediction}), accept
