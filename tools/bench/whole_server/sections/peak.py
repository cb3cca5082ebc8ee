"""The arithmetic limit of the sample: what a core multiplies at most, and what an answer has to multiply."""

import json
import math
import time

import numpy
import onnx
import onnxruntime
from onnx import TensorProto, helper, numpy_helper
from tokenizers import Tokenizer

from whole_server import places
from whole_server.answering import LONGEST_INPUT
from whole_server.options import Options
from whole_server.servers import PEAK, labels
from whole_server.statistics import Metrics, Round, value_of
from whole_server.tables import Goal, number, table
from whole_server.turn import Turn

SIZE = 1024
TRIES = 20
KINDS = ("int8", "fp32")


def measure(turn: Turn) -> Round:
    return {PEAK: limits(turn.options)}


def report(rounds: list[Round], options: Options) -> list[str]:
    def cells(name: str) -> list[str]:
        return [number(value_of(rounds, PEAK, f"{name} {kind}"), 3) for kind in KINDS]

    return [
        "### Peak",
        "",
        *table(
            ["multiplications, 10⁹", *KINDS],
            [["of a core in a second", *cells("peak")], ["for an answer", *cells("needed")]],
        ),
        "",
        f"{labels(options.cores)[PEAK]}: {number(value_of(rounds, PEAK, 'rate'), 3)} answers/s, "
        f"{number(value_of(rounds, PEAK, 'p50'), 3)} ms for one with all cores.",
    ]


def goals(rounds: list[Round], options: Options) -> list[Goal]:
    return []


def limits(options: Options) -> Metrics:
    """Multiplications of 10⁹ in a second on one core and for an answer, and what follows for many clients and one."""
    tokens = lengths()
    whole, fractions, attention = multiplications()
    mean, square = sum(tokens) / len(tokens), sum(one * one for one in tokens) / len(tokens)
    needed = {"int8": whole * mean / 1e9, "fp32": (fractions * mean + attention * square) / 1e9}
    peak = {
        "int8": product("MatMulInteger", numpy.uint8, numpy.int8, TensorProto.INT32),
        "fp32": product("MatMul", numpy.float32, numpy.float32, TensorProto.FLOAT),
    }
    seconds = sum(needed[kind] / peak[kind] for kind in needed)
    return {
        **{f"peak {kind}": value for kind, value in peak.items()},
        **{f"needed {kind}": value for kind, value in needed.items()},
        "rate": options.cores / seconds,
        "p50": 1000 * seconds / options.cores,
    }


def lengths() -> list[int]:
    tokenizer = Tokenizer.from_file(str(places.TOKENIZER))
    asked = [json.loads(line) for line in places.BODIES.read_text(encoding="utf-8").splitlines()]
    return [min(LONGEST_INPUT, len(tokenizer.encode(one["question"], one["context"]).ids)) for one in asked]


def multiplications() -> tuple[int, int, int]:
    """In int8 and in fp32 for each token, and in fp32 for the square of the number of tokens."""
    graph = onnx.load(places.ONNX_SAMPLE / "model.onnx", load_external_data=False).graph
    sizes = {one.name: int(numpy.prod(one.dims)) for one in graph.initializer}
    for node in graph.node:
        if node.op_type in ("Transpose", "Cast", "Mul", "Sub", "DequantizeLinear") and node.input[0] in sizes:
            sizes[node.output[0]] = sizes[node.input[0]]
    layers = [sizes[node.input[1]] for node in graph.node if node.op_type == "MatMulInteger"]
    # The least of them is a square, from the width of attention to the same.
    hidden = math.isqrt(min(layers))
    head = [sizes[node.input[1]] for node in graph.node if node.op_type == "MatMul"]
    # With a mask and without: either has two products.
    attentions = sum(node.op_type == "If" for node in graph.node)
    return sum(layers), sum(head), 2 * hidden * attentions


def product(operator: str, left: type, right: type, result: int) -> float:
    """The best of some products of large matrices on one core."""
    chance = numpy.random.default_rng(1)
    one, other = (chance.integers(0, 100, (SIZE, SIZE)).astype(kind) for kind in (left, right))
    graph = helper.make_graph(
        [helper.make_node(operator, ["one", "other"], ["product"])],
        "product",
        [helper.make_tensor_value_info("one", helper.np_dtype_to_tensor_dtype(one.dtype), [SIZE, SIZE])],
        [helper.make_tensor_value_info("product", result, [SIZE, SIZE])],
        [numpy_helper.from_array(other, "other")],
    )
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    model = helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=8)
    session = onnxruntime.InferenceSession(model.SerializeToString(), options, providers=["CPUExecutionProvider"])
    best = float("inf")
    for _ in range(TRIES):
        begin = time.perf_counter()
        session.run(None, {"one": one})
        best = min(best, time.perf_counter() - begin)
    return SIZE**3 / best / 1e9
