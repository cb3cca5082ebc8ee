"""Compares files for CPUs, whose models are rewritten before they are traced, with the models as they were."""

import pytest
import torch

import graph
import model as loading
import tiny_models
from test_trace import ANY_AGREEMENT
from tiny_models import LONGEST, SMALL

KNOWN = ["bert", "camembert", "distilbert", "electra", "roberta", "xlm-roberta"]
OTHER = ["albert", "mpnet", "deberta"]
LAYERS = SMALL["num_hidden_layers"]
SHAPES = [(1, 1), (1, LONGEST), (1, 23), (5, 17)]


@pytest.fixture
def saved(tmp_path):
    def save(family):
        return tiny_models.save(family, tmp_path / f"tiny-{family}")

    return save


def rows(description, shape, padded):
    generator = torch.Generator().manual_seed(13)
    ids = torch.randint(4, 60, shape, generator=generator)
    mask = torch.ones_like(ids)
    if padded and shape[1] > 4:
        mask[::2, -3:] = 0
        ids[mask == 0] = description["pair"]["padding"]
    tensors = {"input_ids": ids, "attention_mask": mask, "token_type_ids": torch.zeros_like(ids)}
    return [tensors[name] for name in description["inputs"]]


@pytest.mark.parametrize("precision", ["fp32", "bf16", "int8"])
@pytest.mark.parametrize("family", KNOWN)
def test_a_rewritten_model_has_the_logits_of_the_original(make, logits, saved, tmp_path, family, precision):
    directory = saved(family)
    description = make(directory, tmp_path / "out", "--precision", precision, *ANY_AGREEMENT)
    model = loading.load_model(str(directory))
    assert graph.is_known(model)
    original = loading.PositionalInputs(loading.at_precision(model, precision), description["inputs"])
    for shape in SHAPES:
        for padded in (False, True):
            inputs = rows(description, shape, padded)
            with torch.no_grad():
                expected = original(*inputs)
            for found, side in zip(logits(tmp_path / "out", *inputs), expected, strict=True):
                # One token goes through another kernel. In fp32 its order of sums depends on the layer's width.
                tolerated = 1e-5 if precision == "fp32" and shape == (1, 1) else 0
                torch.testing.assert_close(found, side, atol=tolerated, rtol=0)


@pytest.mark.parametrize(("precision", "linear"), [("fp32", "aten::linear"), ("int8", "quantized::linear_dynamic")])
@pytest.mark.parametrize("family", ["bert", "distilbert"])
def test_a_layer_projects_once_and_attends_with_and_without_a_mask(make, saved, tmp_path, family, precision, linear):
    make(saved(family), tmp_path / "out", "--precision", precision, *ANY_AGREEMENT)
    script = torch.jit.load(str(tmp_path / "out" / "model.pt"))
    widths = [weights_of(node).shape for node in script.graph.findAllNodes(linear)]
    hidden = SMALL["hidden_size"]
    assert widths.count(torch.Size([3 * hidden, hidden])) == LAYERS
    assert widths.count(torch.Size([hidden, hidden])) == LAYERS
    attention = script.graph.findAllNodes("aten::scaled_dot_product_attention")
    masks = [list(node.inputs())[3].type().kind() for node in attention]
    assert sorted(masks) == ["NoneType"] * LAYERS + ["TensorType"] * LAYERS


def weights_of(node):
    weights = list(node.inputs())[1].toIValue()
    return weights if isinstance(weights, torch.Tensor) else weights.unpack()[0]


@pytest.mark.parametrize("family", OTHER)
def test_what_has_other_attention_is_left_as_it_is(saved, family):
    assert not graph.is_known(loading.load_model(str(saved(family))))


def test_what_does_not_look_at_whole_rows_by_sdpa_is_left_as_it_is(saved):
    directory = saved("bert")
    assert not graph.is_known(loading.load_model(str(directory), "eager"))
    model = loading.load_model(str(directory))
    assert graph.is_known(model)
    model.config.is_decoder = True
    assert not graph.is_known(model)
    model.config.is_decoder = False
    # A layer of a class that is not known, such as one that a newer version of transformers has.
    model.bert.encoder.layer[1].attention.self = torch.nn.Identity()
    assert not graph.is_known(model)
