"""Traces tiny image classifiers, and compares what model.json says of pictures with transformers' processors."""

import json

import numpy as np
import pytest
import torch
import transformers
from PIL import Image

import asking
import picture_models
import pictures
import preparation
import task_fixtures
from picture_models import FAMILIES, LABELS
from test_neuron import sdk  # noqa: F401, a fixture
from test_trace import ANY_AGREEMENT

SHAPES = [(320, 240), (241, 331), (20, 30), (35, 35), (34, 35), (700, 90)]


@pytest.fixture(scope="session")
def saved(tmp_path_factory):
    """The directory of a tiny model, made once."""
    directories = {}

    def get(family):
        if family not in directories:
            directories[family] = picture_models.save(family, tmp_path_factory.mktemp("models") / family)
        return directories[family]

    return get


@pytest.mark.parametrize("family", FAMILIES)
def test_the_file_answers_as_the_pipeline(make, saved, tmp_path, capsys, family):
    description = make(saved(family), tmp_path / "out")
    assert description["task"] == "image-classification"
    assert description["labels"] == LABELS
    assert description["parameters"] == {"function_to_apply": "softmax"}
    assert "pipeline: 5 answers as with the untraced model" in capsys.readouterr().out
    pipeline = transformers.pipeline("image-classification", model=str(saved(family)), device="cpu")
    expected = pipeline(Image.open(tmp_path / "out" / "sample.png"))
    answer = json.loads((tmp_path / "out" / "sample-response.json").read_text(encoding="utf-8"))
    assert asking.alike(asking.rounded(expected), answer)
    assert not (tmp_path / "out" / "tokenizer.json").exists()


@pytest.mark.parametrize(("target", "precision"), [("cpu", "int8"), ("cpu", "bf16"), ("gpu", "fp16"), ("gpu", "fp32")])
def test_targets_and_precisions(trace, saved, tmp_path, target, precision):
    options = ["--target", target, "--precision", precision, *ANY_AGREEMENT, "--name", "model.tar.gz"]
    description = trace(saved("vit"), tmp_path / "out", *options)
    assert (description["target"], description["precision"]) == (target, precision)
    assert description.get("agreement", {}).get("questions") == (None if precision == "fp32" else pictures.COMPARED)
    assert (tmp_path / "out" / "sample-response.json").exists() == (False if target == "gpu" else precision == "fp32")


@pytest.mark.parametrize("family", FAMILIES)
def test_a_gpus_file_takes_any_number_of_pictures(make, saved, logits, tmp_path, family):
    make(saved(family), tmp_path / "out", "--target", "gpu", "--precision", "fp32")
    size = 32 if family == "vit" else 35 if family == "resnet" else 48
    for rows in (1, 5):
        assert logits(tmp_path / "out", torch.rand(rows, 3, size, size)).shape == (rows, len(LABELS))


@pytest.mark.parametrize(("target", "family"), [("inf1", "resnet"), ("inf2", "vit"), ("trn1", "mobilenet")])
def test_each_number_of_pictures_is_compiled(make, sdk, saved, tmp_path, target, family):  # noqa: F811
    library = sdk(target)
    description = make(saved(family), tmp_path / "out", "--target", target, "--batch-size", 4, 1)
    assert description["files"] == [{"path": "model-1.pt", "batch": 1}, {"path": "model-4.pt", "batch": 4}]
    assert [shape[0] for shape in library.shapes] == [1, 4]
    assert not any("--model-type" in argument for arguments in library.compiler_args for argument in arguments)


def test_convolutions_stay_fp32_on_a_cpu(trace, saved, tmp_path, refusal, capsys):
    assert trace(saved("resnet"), tmp_path / "out")["precision"] == "fp32"
    assert "ResNetForImageClassification has no linear layers that int8 is for" in capsys.readouterr().out
    assert "has no linear layers that int8 is for; use fp32 or bf16" in refusal(saved("resnet"), "--precision", "int8")


def test_pictures_that_depend_on_each_other_are_refused(monkeypatch, refusal, saved):
    true_forward = pictures.PixelInputs.forward

    def forward_that_centres(self, pixels):
        logits = true_forward(self, pixels)
        return logits - logits.mean(0, keepdim=True)

    monkeypatch.setattr(pictures.PixelInputs, "forward", forward_that_centres)
    assert "ViTForImageClassification: its rows depend on each other" in refusal(saved("vit"))


def test_options_of_texts_are_refused(refusal, saved):
    assert "--sequence-length: " in refusal(saved("vit"), "--target", "cpu", "--sequence-length", "8")


PROCESSORS = [
    transformers.ViTImageProcessorPil(size={"height": 31, "width": 44}, resample=3),
    transformers.ViTImageProcessorPil(size={"height": 32, "width": 32}, do_normalize=False, resample=0),
    transformers.ViTImageProcessorPil(size={"height": 32, "width": 32}, do_rescale=False, resample=1),
    transformers.ConvNextImageProcessorPil(size={"shortest_edge": 35}, crop_pct=0.875),
    transformers.ConvNextImageProcessorPil(size={"shortest_edge": 384}),
    transformers.MobileNetV2ImageProcessorPil(size={"shortest_edge": 40}, crop_size={"height": 33, "width": 28}),
    transformers.MobileNetV2ImageProcessorPil(do_resize=False, crop_size={"height": 33, "width": 28}),
    transformers.MobileViTImageProcessorPil(size={"shortest_edge": 40}, crop_size={"height": 32, "width": 32}),
    transformers.BeitImageProcessorPil(size={"height": 40, "width": 40}, crop_size={"height": 32, "width": 32}, do_center_crop=True),
    transformers.EfficientNetImageProcessorPil(size={"height": 40, "width": 40}, rescale_offset=True),
    transformers.EfficientNetImageProcessorPil(size={"height": 40, "width": 40}, include_top=True),
    transformers.PoolFormerImageProcessorPil(size={"shortest_edge": 40}, crop_size={"height": 40, "width": 40}, crop_pct=0.9),
    transformers.DeiTImageProcessorPil(size={"height": 40, "width": 40}, crop_size={"height": 32, "width": 32}),
    transformers.CLIPImageProcessorPil(size={"shortest_edge": 40}, crop_size={"height": 40, "width": 40}),
]


@pytest.mark.parametrize("processor", PROCESSORS, ids=lambda processor: type(processor).__name__)
def test_model_json_says_what_the_processor_does(processor):
    described = preparation.describe(processor)
    drawings = [pictures.drawn(number).resize(size) for number, size in enumerate(SHAPES)]
    preparation.prove(processor, described, drawings)
    expected = np.asarray(processor(images=drawings[0], return_tensors="np")["pixel_values"][0])
    assert preparation.input_size(described) == expected.shape[1:]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"size": {"shortest_edge": 40, "longest_edge": 60}}, "size: found {'longest_edge': 60, 'shortest_edge': 40}"),
        ({"size": {"shortest_edge": 40}}, "found neither a crop nor a resize to a height and a width"),
        ({"do_resize": False}, "found neither a crop nor a resize to a height and a width"),
        ({"image_processor_type": "LevitImageProcessor", "size": {"shortest_edge": 32}}, "LevitImageProcessorPil makes something else"),
        ({"image_processor_type": "NoSuchProcessor"}, "has no image processor"),
    ],
)
def test_what_model_json_cannot_say_is_refused(refusal, tmp_path, changes, message):
    model = picture_models.save("vit", tmp_path / "model")
    file = model / preparation.FILE
    settings = json.loads(file.read_text(encoding="utf-8"))
    if "Levit" in changes.get("image_processor_type", ""):
        settings |= {"do_center_crop": True, "crop_size": {"height": 32, "width": 32}}
    file.write_text(json.dumps(settings | changes), encoding="utf-8")
    assert message in refusal(model)


@pytest.mark.parametrize(
    ("changes", "function"),
    [
        ({"problem_type": "multi_label_classification"}, "sigmoid"),
        ({"problem_type": "regression"}, "softmax"),
        ({"id2label": {0: "a cat"}, "label2id": {"a cat": 0}, "num_labels": 1}, "sigmoid"),
    ],
)
def test_the_function_is_the_pipelines(make, tmp_path, changes, function):
    model = picture_models.save("vit", tmp_path / "model", **changes)
    assert make(model, tmp_path / "out")["parameters"] == {"function_to_apply": function}


def test_fixtures_hold_pictures_of_all_kinds():
    assert len(task_fixtures.pictures_of_all_kinds()) == 7
