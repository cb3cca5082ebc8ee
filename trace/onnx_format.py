"""ONNX in the place of TorchScript: one file for CPUs that takes any batch size and length."""

import io
import logging
import tempfile
from pathlib import Path

import torch
from torch import nn

import verification
from pictures import Pictures
from progress import Report, Steps
from refused import Refused, last_line
from subject import Subject

FILE = "model.onnx"

# Attention as transformers' exports have it.
ATTENTION = "eager"

# Every operator that exports use is there, and every ONNX Runtime of the last years reads it.
OPSET = 17


class Loaded(nn.Module):
    """An ONNX file in the place of a model: tensors in their order in, tensors out."""

    def __init__(self, content: bytes, inputs: list[str]):
        super().__init__()
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        self.content = content
        self.inputs = inputs
        self.session = onnxruntime.InferenceSession(content, options, providers=["CPUExecutionProvider"])

    def forward(self, *tensors):
        given = dict(zip(self.inputs, tensors, strict=True))
        arrays = {taken.name: given[taken.name].numpy() for taken in self.session.get_inputs()}
        outputs = tuple(torch.from_numpy(array) for array in self.session.run(None, arrays))
        return outputs[0] if len(outputs) == 1 else outputs


def check(precision: str, target: str) -> None:
    if target != "cpu":
        raise Refused(f"--format onnx --target {target}: ONNX files run on CPUs; use --target cpu")
    if precision not in ("fp32", "int8"):
        raise Refused(f"--format onnx --precision {precision}: expected fp32 or int8")
    try:
        import onnx  # noqa: F401
        import onnxruntime  # noqa: F401
    except ImportError as error:
        raise Refused(f"--format onnx: {error}; pip install -r trace/requirements-onnx.txt") from error


def exporting(subject: Subject | Pictures) -> Subject | Pictures:
    """The same subject. In int8 its module is the file itself, so that the file's answers are those compared with fp32."""

    class Exporting(type(subject)):
        def module(self, precision: str) -> nn.Module:
            module = super().module("fp32")
            return module if precision == "fp32" else Loaded(quantised(exported(self, module), self.model), self.inputs)

    return Exporting(*subject)


def trace(subject: Subject | Pictures, module: nn.Module, precision: str, steps: Steps) -> dict[str, bytes]:
    """The file, read back and compared with the model in fp32."""
    steps.next(f"export in {precision}")
    content = exported(subject, module) if precision == "fp32" else module.content
    steps.next("verify on the CPU")
    loaded = Loaded(content, subject.inputs)
    batches = subject.batches()
    comparisons = verification.compare(loaded, subject.module("fp32"), batches)
    if precision == "fp32":
        verification.verify(FILE, comparisons, precision)
    report = Report(FILE, content)
    report.say(f"verified with batches of {len(batches)} shapes of {subject.limit()} on the CPU")
    report.say(f"largest logit difference from fp32 {verification.summary(comparisons)}")
    speed = verification.per_second(loaded, *subject.usual(1), "cpu")
    report.say(f"{speed:.0f} {subject.unit}/s on one thread of the CPU")
    return {FILE: content}


def exported(subject: Subject | Pictures, module: nn.Module) -> bytes:
    names = [*subject.inputs, *subject.task.outputs]
    rows = {0: "batch", 1: "sequence"} if subject.unit == "tokens" else {0: "batch"}
    axes = {name: rows if name in subject.inputs or "_logits" in name else {0: "batch"} for name in names}
    if subject.task.name == "token-classification":
        axes["logits"] = rows
    content = io.BytesIO()
    try:
        with torch.no_grad():
            torch.onnx.export(
                module.requires_grad_(False), tuple(subject.example()), content, input_names=subject.inputs,
                output_names=subject.task.outputs, dynamic_axes=axes, opset_version=OPSET, dynamo=False,
            )  # fmt: skip
    except Exception as error:
        raise Refused(f"{type(subject.model).__name__} can't be exported to ONNX: {last_line(error)}") from error
    return with_parts_of_norms(content.getvalue())


def with_parts_of_norms(content: bytes) -> bytes:
    """With LayerNormalization in its parts. ONNX Runtime 1.28, which Berth has, computes it number by number, which is a
    quarter of a forward in int8. With Div in place of Reciprocal it would make one of the parts again."""
    import onnx

    model = onnx.load_from_string(content)
    nodes = [part for node in model.graph.node for part in parts(node)]
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    return model.SerializeToString()


def parts(node: "onnx.NodeProto") -> list["onnx.NodeProto"]:  # noqa: F821
    from onnx import helper

    attributes = {one.name: helper.get_attribute_value(one) for one in node.attribute}
    if node.op_type != "LayerNormalization" or attributes.get("axis", -1) != -1 or len(node.output) > 1:
        return [node]
    taken, scale, *bias = node.input
    found = []

    def add(operator: str, *inputs: str, **settings) -> str:
        name = f"{node.name}_{len(found)}"
        found.append(helper.make_node(operator, inputs, [name], name, **settings))
        return name

    centred = add("Sub", taken, add("ReduceMean", taken, axes=[-1]))
    variance = add("ReduceMean", add("Mul", centred, centred), axes=[-1])
    deviation = add("Sqrt", add("Add", variance, add("Constant", value_float=attributes.get("epsilon", 1e-5))))
    scaled = add("Mul", add("Mul", centred, add("Reciprocal", deviation)), scale)
    if bias:
        add("Add", scaled, *bias)
    found[-1].output[0] = node.output[0]
    return found


def quantised(content: bytes, model: nn.Module) -> bytes:
    """Weights to int8, a scale a channel; activations while running. The head stays fp32, as in quantisation.py.

    Weights have 7 bits: CPUs without VNNI add products of 8 bits in 16, which overflows.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    from quantisation import in_head

    graph = onnx.load_from_string(content).graph
    head = [node.name for node in graph.node if in_head(model, ".".join(node.name.strip("/").split("/")[1:-1]))]
    # It asks for steps that change nothing here.
    logging.disable(logging.WARNING)
    try:
        with tempfile.TemporaryDirectory() as directory:
            file, smaller = Path(directory) / "full.onnx", Path(directory) / FILE
            file.write_bytes(content)
            quantize_dynamic(
                file, smaller, per_channel=True, reduce_range=True, weight_type=QuantType.QInt8, nodes_to_exclude=head
            )
            return smaller.read_bytes()
    finally:
        logging.disable(logging.NOTSET)
