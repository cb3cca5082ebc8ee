"""Writes the sample in ONNX for the image without libtorch: a graph of weights that stay in TorchScript's file.

    python trace/onnx_sample.py --artifact model-artifact --output src/image/onnx

A TorchScript file is a ZIP that compresses nothing, so ONNX can name the place of each tensor in it as external data.
The image has that file as `model.onnx.data`. Of requirements-onnx.txt this needs onnx alone.
"""

import argparse
import json
import pickle
import zipfile
from itertools import count
from pathlib import Path
from typing import NamedTuple

import onnx
from onnx import TensorProto, helper

GRAPH = "model.onnx"
WEIGHTS = "model.onnx.data"
# The first one with Gelu.
OPSET = 20
# Read by every ONNX Runtime that knows this opset.
IR_VERSION = 9
# The domain of operators that only ONNX Runtime has.
OF_ONNX_RUNTIME = "com.microsoft"
HEADS = 12
LAYERS = 6
EPSILON = 1e-12

TYPES = {
    "FloatStorage": TensorProto.FLOAT,
    "DoubleStorage": TensorProto.DOUBLE,
    "LongStorage": TensorProto.INT64,
    "QInt8Storage": TensorProto.INT8,
    "QUInt8Storage": TensorProto.UINT8,
}


class Weights(NamedTuple):
    """A tensor in the file: in which entry, as what."""

    entry: str
    type: int
    shape: tuple


class Quantised(NamedTuple):
    """A tensor with a scale and a zero point for each row."""

    values: Weights
    scales: Weights
    zero_points: Weights


class Packed:
    """What a quantised layer of PyTorch keeps."""

    def __setstate__(self, state):
        self.state = state


class Constants(pickle.Unpickler):
    """Reads the file's list of constants as places in the file."""

    def persistent_load(self, pid):
        _, storage, key, _, _ = pid
        return f"archive/constants/{key}", TYPES[storage]

    def find_class(self, module, name):
        match name:
            case "_rebuild_tensor_v2":
                return lambda storage, offset, shape, *_: Weights(*storage, shape)
            case "_rebuild_qtensor":
                return lambda storage, offset, shape, stride, scheme, *_: Quantised(
                    Weights(*storage, shape), *scheme[1:3]
                )
            case "LinearPackedParamsBase" | "EmbeddingPackedParamsBase":
                return Packed
            case "OrderedDict":
                return dict
            case "build_tensorlist" | "build_doublelist" | "build_intlist":
                return list
        # Names of storages and schemes.
        return name


class Graph:
    """Nodes, and the tensors in the file that they use."""

    def __init__(self, file: Path):
        self.nodes = []
        self.initializers = []
        self.numbers = count()
        with file.open("rb") as content, zipfile.ZipFile(content) as archive:
            self.places = {entry.filename: place(content, entry) for entry in archive.infolist()}
            with archive.open("archive/constants.pkl") as pickled:
                self.constants = list(Constants(pickled).load())

    def add(self, operator: str, *inputs: str, outputs: int = 1, **attributes):
        names = [f"{next(self.numbers)}" for _ in range(outputs)]
        self.nodes.append(helper.make_node(operator, inputs, names, **attributes))
        return names[0] if outputs == 1 else names

    def weights(self, weights: Weights, shape: tuple | None = None) -> str:
        """The name of a tensor in the file, which may have another shape of as many elements."""
        offset, length = self.places[weights.entry]
        tensor = TensorProto(name=f"{next(self.numbers)}", data_type=weights.type, dims=shape or weights.shape)
        tensor.data_location = TensorProto.EXTERNAL
        for key, value in ("location", WEIGHTS), ("offset", offset), ("length", length):
            tensor.external_data.add(key=key, value=str(value))
        self.initializers.append(tensor)
        return tensor.name

    def value(self, *values: int | float, scalar: bool = False) -> str:
        kind = TensorProto.FLOAT if isinstance(values[0], float) else TensorProto.INT64
        tensor = helper.make_tensor(f"{next(self.numbers)}", kind, [] if scalar else [len(values)], values)
        self.initializers.append(tensor)
        return tensor.name

    def embedding(self, packed: Packed, ids: str) -> str:
        """8 bits, with a scale and a zero point for each word."""
        [words] = packed.state[1]
        rows = (words.values.shape[0], 1)
        values, zeros, scales = (
            self.add("Gather", self.weights(one, shape), ids)
            for one, shape in ((words.values, None), (words.zero_points, rows), (words.scales, rows))
        )
        return self.add("Mul", self.add("Sub", self.add("Cast", values, to=TensorProto.FLOAT), zeros), scales)

    def linear(self, packed: Packed, inputs: str) -> str:
        """Integers times integers. What has no inputs but weights is computed once, when the file is loaded."""
        weight, bias = packed.state[:2]
        numbers, scale, zero = self.add("DynamicQuantizeLinear", inputs, outputs=3)
        transposed = self.add("Transpose", self.weights(weight.values))
        product = self.add("Cast", self.add("MatMulInteger", numbers, transposed, zero), to=TensorProto.FLOAT)
        scales = self.add("Mul", scale, self.add("Cast", self.weights(weight.scales), to=TensorProto.FLOAT))
        return self.add("Add", self.add("Mul", product, scales), self.weights(bias))

    def norm(self, inputs: str, scale: Weights, bias: Weights) -> str:
        # ONNX Runtime 1.28 and 1.29 compute LayerNormalization number by number, which takes a quarter of the forward.
        # With Div in place of Reciprocal they would make one of this as well.
        mean = self.add("ReduceMean", inputs, self.value(-1))
        centred = self.add("Sub", inputs, mean)
        variance = self.add("ReduceMean", self.add("Mul", centred, centred), self.value(-1))
        deviation = self.add("Sqrt", self.add("Add", variance, self.value(EPSILON, scalar=True)))
        normal = self.add("Mul", centred, self.add("Reciprocal", deviation))
        return self.add("Add", self.add("Mul", normal, self.weights(scale)), self.weights(bias))

    def attention(self, projected: str, present: str, is_full: str) -> str:
        """Where no row is padded, ONNX Runtime goes without a matrix of all shares. Long rows take an eighth less then."""
        parts = self.add("Split", projected, outputs=3, axis=-1, num_outputs=3)

        def branch(*mask: str) -> onnx.GraphProto:
            name = f"{next(self.numbers)}"
            node = helper.make_node(
                "MultiHeadAttention", [*parts, *mask], [name], domain=OF_ONNX_RUNTIME, num_heads=HEADS
            )
            return helper.make_graph([node], "attention", [], [helper.make_tensor_value_info(name, TensorProto.FLOAT, None)])

        return self.add("If", is_full, then_branch=branch(), else_branch=branch("", present))


def place(content, entry: zipfile.ZipInfo) -> tuple[int, int]:
    """Where the bytes of an entry begin and how many there are."""
    if entry.compress_type != zipfile.ZIP_STORED:
        raise SystemExit(f"error: found {entry.filename} compressed, expected a file of torch.jit.save")
    content.seek(entry.header_offset + 26)
    name, extra = (int.from_bytes(content.read(2), "little") for _ in range(2))
    return entry.header_offset + 30 + name + extra, entry.file_size


def sample(file: Path) -> onnx.ModelProto:
    """The forward of trace.py's file, whose constants come in the order in which it uses them."""
    graph = Graph(file)
    _, _, words, types, positions, *rest = graph.constants
    constants = iter(rest)

    length = graph.add("Shape", "input_ids", start=1, end=2)
    typed = graph.add("Gather", graph.weights(types), "token_type_ids")
    placed = graph.add("Slice", graph.weights(positions), graph.value(0), length)
    embedded = graph.add("Add", graph.add("Add", graph.embedding(words, "input_ids"), typed), placed)
    hidden = graph.norm(embedded, next(constants), next(constants))
    present = graph.add("Cast", "attention_mask", to=TensorProto.INT32)
    is_full = graph.add("Cast", graph.add("ReduceMin", present, keepdims=0), to=TensorProto.BOOL)
    for _ in range(LAYERS):
        attended = graph.attention(graph.linear(next(constants), hidden), present, is_full)
        projected = graph.add("Add", graph.linear(next(constants), attended), hidden)
        hidden = graph.norm(projected, next(constants), next(constants))
        wide = graph.add("Gelu", graph.linear(next(constants), hidden))
        narrow = graph.add("Add", graph.linear(next(constants), wide), hidden)
        hidden = graph.norm(narrow, next(constants), next(constants))
    head = graph.add("MatMul", hidden, graph.add("Transpose", graph.weights(next(constants))))
    logits = graph.add("Add", head, graph.weights(next(constants)))
    start, end = graph.add("Split", logits, outputs=2, axis=-1, num_outputs=2)

    def of_tokens(name: str, kind: int) -> onnx.ValueInfoProto:
        return helper.make_tensor_value_info(name, kind, ["batch", "sequence"])

    for logits, name in (start, "start_logits"), (end, "end_logits"):
        graph.nodes.append(helper.make_node("Squeeze", [logits, graph.value(-1)], [name]))
    return helper.make_model(
        helper.make_graph(
            graph.nodes, "sample",
            [of_tokens(name, TensorProto.INT64) for name in ("input_ids", "attention_mask", "token_type_ids")],
            [of_tokens(name, TensorProto.FLOAT) for name in ("start_logits", "end_logits")],
            graph.initializers,
        ),
        opset_imports=[helper.make_opsetid("", OPSET), helper.make_opsetid(OF_ONNX_RUNTIME, 1)], ir_version=IR_VERSION,
    )  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser(description="Write the sample in ONNX.")
    parser.add_argument("--artifact", type=Path, default=Path("model-artifact"), help="the sample in TorchScript")
    parser.add_argument("--output", type=Path, default=Path("src/image/onnx"))
    arguments = parser.parse_args()
    model = sample(arguments.artifact / "model.pt")
    (arguments.output / GRAPH).write_bytes(model.SerializeToString(deterministic=True))
    described = json.loads((arguments.artifact / "model.json").read_text(encoding="utf-8"))
    del described["torch"], described["agreement"]
    described["files"] = [{"path": GRAPH}]
    text = json.dumps(described, indent=2, ensure_ascii=False) + "\n"
    (arguments.output / "model.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
