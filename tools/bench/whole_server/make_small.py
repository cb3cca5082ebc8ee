"""Makes the models and the bodies of the section small: python -m whole_server.make_small

Weights are random. The trees are trained on random rows, so that they have the depth of real ones.
"""

import io
import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy
import onnx
import torch
import transformers
from onnx import TensorProto, helper, numpy_helper
from PIL import Image
from skl2onnx import to_onnx
from sklearn.ensemble import RandomForestRegressor

from whole_server.make_task import TRACE
from whole_server.small_cases import COLUMNS, CSV, DENSE, DIRECTORY, DONE, PICTURES, ROWS, TREES, V2, Form

HIDDEN = 64
TREE_COUNT, TREE_DEPTH, TRAINED = 100, 8, 2000
# How many bodies of each form, so that no server answers the same one again and again.
BODY_COUNT = 16
PICTURE_BYTES = 100_000
PICTURE_SIZE = (640, 480)
PIXELS = 64


def main() -> None:
    shutil.rmtree(DIRECTORY, ignore_errors=True)
    chance = numpy.random.default_rng(7)
    for case, model in ((DENSE, dense(chance)), (TREES, trees(chance))):
        case.artifact.mkdir(parents=True)
        onnx.save(model, case.model)
    for size, count in ROWS.items():
        tables = [chance.normal(size=(count, COLUMNS)).round(5).tolist() for _ in range(BODY_COUNT)]
        for form in DENSE.forms:
            if form.size == size:
                write(form, [table_body(form, rows) for rows in tables])
    write(PICTURES.forms[0], [picture(chance) for _ in range(BODY_COUNT)])
    trace_pictures(PICTURES.artifact)
    DONE.touch()


def write(form: Form, bodies: list[bytes]) -> None:
    form.bodies.mkdir(parents=True)
    for number, body in enumerate(bodies):
        (form.bodies / f"{number:02}").write_bytes(body)


def dense(chance: numpy.random.Generator) -> onnx.ModelProto:
    shapes = {"first": (COLUMNS, HIDDEN), "first_bias": (HIDDEN,), "second": (HIDDEN, 1), "second_bias": (1,)}
    weights = [
        numpy_helper.from_array(chance.normal(size=shape, scale=0.3).astype(numpy.float32), name)
        for name, shape in shapes.items()
    ]
    nodes = [
        helper.make_node("Gemm", ["input", "first", "first_bias"], ["hidden"]),
        helper.make_node("Relu", ["hidden"], ["positive"]),
        helper.make_node("Gemm", ["positive", "second", "second_bias"], ["output"]),
    ]
    taken = [helper.make_tensor_value_info("input", TensorProto.FLOAT, ["rows", COLUMNS])]
    given = [helper.make_tensor_value_info("output", TensorProto.FLOAT, ["rows", 1])]
    graph = helper.make_graph(nodes, "dense", taken, given, weights)
    return helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)


def trees(chance: numpy.random.Generator) -> onnx.ModelProto:
    rows = chance.normal(size=(TRAINED, COLUMNS)).astype(numpy.float32)
    forest = RandomForestRegressor(TREE_COUNT, max_depth=TREE_DEPTH, random_state=0)
    forest.fit(rows, rows[:, 0] + rows[:, 1] * rows[:, 2])
    return to_onnx(forest, rows[:1])


def table_body(form: Form, rows: list[list[float]]) -> bytes:
    if form.format == V2:
        numbers = [number for row in rows for number in row]
        tensor = {"name": "input", "shape": [len(rows), COLUMNS], "datatype": "FP32", "data": numbers}
        return json.dumps({"inputs": [tensor]}).encode()
    if form.format == CSV:
        return "".join(",".join(map(str, row)) + "\n" for row in rows).encode()
    return json.dumps({"instances": rows}).encode()


def picture(chance: numpy.random.Generator) -> bytes:
    """Colours that run into each other, with noise; the quality is the least that gives as many bytes."""
    width, height = PICTURE_SIZE
    colours = Image.fromarray(chance.integers(0, 256, (6, 8, 3), dtype=numpy.uint8)).resize(PICTURE_SIZE)
    noisy = numpy.asarray(colours, dtype=numpy.float32) + chance.normal(scale=12, size=(height, width, 3))
    drawn = Image.fromarray(noisy.clip(0, 255).astype(numpy.uint8))
    for quality in range(50, 100):
        file = io.BytesIO()
        drawn.save(file, "JPEG", quality=quality)
        if file.tell() >= PICTURE_BYTES:
            break
    return file.getvalue()


def trace_pictures(artifact: Path) -> None:
    torch.manual_seed(7)
    directory = artifact.parent / "model"
    config = transformers.ResNetConfig(
        embedding_size=16, hidden_sizes=[16, 32], depths=[1, 1], layer_type="basic", num_labels=10
    )
    transformers.ResNetForImageClassification(config).save_pretrained(directory)
    halves = [0.5] * 3
    size = {"height": PIXELS, "width": PIXELS}
    transformers.ViTImageProcessorPil(size=size, image_mean=halves, image_std=halves).save_pretrained(directory)
    options = ["--model", str(directory), "--task", "image-classification", "--precision", "fp32"]
    subprocess.run([sys.executable, str(TRACE), *options, "--output", str(artifact)], check=True)
    for sample in artifact.glob("sample*.json"):
        # Of random weights the best labels are nearly equal. Another engine may exchange them, and Berth would not start.
        sample.unlink()


if __name__ == "__main__":
    main()
