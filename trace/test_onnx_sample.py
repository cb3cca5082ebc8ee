"""The sample in ONNX is a graph on the weights of the committed TorchScript file."""

from pathlib import Path

import pytest

pytest.importorskip("onnx")

import onnx_sample

ROOT = Path(__file__).parent.parent


def test_the_committed_graph_is_that_of_the_committed_weights():
    written = onnx_sample.sample(ROOT / "model-artifact" / "model.pt").SerializeToString(deterministic=True)
    assert written == (ROOT / "src" / "image" / "onnx" / "model.onnx").read_bytes()


def test_it_answers_with_those_weights(tmp_path):
    onnxruntime = pytest.importorskip("onnxruntime")
    (tmp_path / onnx_sample.GRAPH).write_bytes((ROOT / "src" / "image" / "onnx" / onnx_sample.GRAPH).read_bytes())
    (tmp_path / onnx_sample.WEIGHTS).write_bytes((ROOT / "model-artifact" / "model.pt").read_bytes())
    session = onnxruntime.InferenceSession(tmp_path / onnx_sample.GRAPH, providers=["CPUExecutionProvider"])
    # "Who came?" of "Bob came."
    ids = [[101, 2040, 2234, 1029, 102, 3960, 2234, 1012, 102]]
    types = [[0, 0, 0, 0, 0, 1, 1, 1, 1]]
    start, end = session.run(None, {"input_ids": ids, "attention_mask": [[1] * 9], "token_type_ids": types})
    assert (start[0, 5:].argmax(), end[0, 5:].argmax()) == (0, 0)
