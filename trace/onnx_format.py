"""ONNX in the place of TorchScript: one file for CPUs that takes any batch size and length."""

import io
import logging
import tempfile
from pathlib import Path

import numpy
import torch
from torch import nn

import verification
from pictures import Pictures
from progress import Report, Steps
from refused import Refused, last_line
from subject import Subject

FILE = "model.onnx"

# Attention as transformers' exports have it, where onnx_attention.py can't write its own.
ATTENTION = "eager"

# Every operator that exports use is there, and every ONNX Runtime of the last years reads it.
OPSET = 17

# How many channels of activations are multiplied in fp32.
OUTLIERS = 8


class Loaded(nn.Module):
    """An ONNX file in the place of a model: tensors in their order in, tensors out."""

    def __init__(self, content: bytes, inputs: list[str]):
        super().__init__()
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        # As Berth sets it, for CPUs without VNNI.
        options.add_session_config_entry("session.x64quantprecision", "1")
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
            return module if precision == "fp32" else Loaded(quantised(exported(self, module), self), self.inputs)

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
    import onnx_attention

    names = [*subject.inputs, *subject.task.outputs]
    rows = {0: "batch", 1: "sequence"} if subject.unit == "tokens" else {0: "batch"}
    axes = {name: rows if name in subject.inputs or "_logits" in name else {0: "batch"} for name in names}
    if subject.task.name == "token-classification":
        axes["logits"] = rows
    content = io.BytesIO()
    try:
        with torch.no_grad(), onnx_attention.chosen(module.model, OPSET):
            torch.onnx.export(
                module.requires_grad_(False), tuple(subject.example()), content, input_names=subject.inputs,
                output_names=subject.task.outputs, dynamic_axes=axes, opset_version=OPSET, dynamo=False,
                custom_opsets=onnx_attention.VERSION,
            )  # fmt: skip
    except Exception as error:
        raise Refused(f"{type(subject.model).__name__} can't be exported to ONNX: {last_line(error)}") from error
    return with_parts_of_norms(onnx_attention.with_unmasked(content.getvalue()))


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


def quantised(content: bytes, subject: Subject | Pictures) -> bytes:
    """Weights to int8, a scale a channel; activations while running; words to int8, a scale a word. The head and what
    else is looked up stay fp32, as in quantisation.py, and so do a few channels of activations: see below.

    A CPU without VNNI adds products of 8 bits in 16, which overflows. ONNX Runtime is told to be exact there, which takes
    longer: session.x64quantprecision. With weights of 7 bits nothing would overflow, but logits would differ by a fifth
    more.
    """
    import onnx
    from onnxruntime.quantization import QuantType, quantize_dynamic

    from quantisation import in_head, is_words

    def module(node: onnx.NodeProto) -> str:
        return ".".join(node.name.strip("/").split("/")[1:-1])

    model = subject.model
    modules = dict(model.named_modules())
    nodes = onnx.load_from_string(content).graph.node
    head = [node.name for node in nodes if in_head(model, module(node))]
    looked_up = [node for node in nodes if isinstance(modules.get(module(node)), nn.Embedding)]
    words = [node.name for node in looked_up if is_words(model, modules[module(node)])]
    content, apart = with_outliers_apart(content, subject, head)
    full = [*head, *apart, *(node.name for node in looked_up)]
    # It asks for steps that change nothing here.
    logging.disable(logging.WARNING)
    try:
        with tempfile.TemporaryDirectory() as directory:
            file, smaller = Path(directory) / "full.onnx", Path(directory) / FILE
            file.write_bytes(content)
            quantize_dynamic(file, smaller, per_channel=True, weight_type=QuantType.QInt8, nodes_to_exclude=full)
            return with_scales_of_words(smaller.read_bytes(), words)
    finally:
        logging.disable(logging.NOTSET)


def with_outliers_apart(content: bytes, subject: Subject | Pictures, head: list[str]) -> tuple[bytes, list[str]]:
    """With the largest channels of activations multiplied on their own, by nodes whose names are returned.

    One scale serves a whole tensor of activations. In front of a BERT's feed-forward layers a channel or two are three
    to five times as large as all others, which are left so much fewer steps. They are the same ones for every text, so the
    examples show which they are. Apart and in fp32 they take 8 % of a forward, and logits differ from fp32's by less
    than half as much. The products of attention gain little.
    """
    import onnx
    from onnx import helper, numpy_helper

    model = onnx.load_from_string(content)
    graph = model.graph
    weights = {one.name: one for one in graph.initializer if len(one.dims) == 2}
    products = {
        node.name: node.input[0]
        for node in graph.node
        if node.op_type == "MatMul" and node.input[1] in weights and node.name not in head and "att" not in node.name
    }
    largest = largest_activations(content, subject, sorted(set(products.values())))
    biases = biases_of_products(graph)
    nodes, apart, replaced, done = [], [], set(), set()
    for node in graph.node:
        channels = outliers(largest[products[node.name]]) if node.name in products else []
        if not len(channels):
            nodes += [] if node.name in done else [node]
            continue
        taken, table = node.input
        values = numpy_helper.to_array(weights[table])
        rest = values.copy()
        rest[channels] = 0
        within = numpy.ones(len(values), values.dtype)
        within[channels] = 0
        name, last = node.name, node
        for suffix, array in ("within", within), ("channels", channels), ("rest", rest), ("few", values[channels]):
            graph.initializer.append(numpy_helper.from_array(array, f"{name}_{suffix}"))
        nodes += [
            helper.make_node("Mul", [taken, f"{name}_within"], [f"{name}_masked"], f"{name}_mask"),
            helper.make_node("MatMul", [f"{name}_masked", f"{name}_rest"], [f"{name}_of_rest"], name),
            helper.make_node("Gather", [taken, f"{name}_channels"], [f"{name}_taken"], f"{name}_take", axis=-1),
            helper.make_node("MatMul", [f"{name}_taken", f"{name}_few"], [f"{name}_of_few"], f"{name}_apart"),
        ]
        summed = f"{name}_of_rest"
        if name in biases:
            # ONNX Runtime adds what follows a product in int8 within it.
            bias, last = biases[name]
            nodes.append(helper.make_node("Add", [summed, bias], [f"{name}_biased"], last.name))
            summed = f"{name}_biased"
            done.add(last.name)
        nodes.append(helper.make_node("Add", [summed, f"{name}_of_few"], last.output, f"{name}_sum"))
        apart.append(f"{name}_apart")
        replaced.add(table)
    return with_nodes(model, nodes, replaced), apart


def biases_of_products(graph: "onnx.GraphProto") -> dict[str, tuple[str, "onnx.NodeProto"]]:  # noqa: F821
    """The bias that is added to a product alone, by the product's name, and the node that adds it."""
    vectors = {one.name for one in graph.initializer if len(one.dims) == 1}
    users = {}
    for node in graph.node:
        for name in node.input:
            users.setdefault(name, []).append(node)
    found = {}
    for node in graph.node:
        match users.get(node.output[0]):
            case [add] if node.op_type == "MatMul" and add.op_type == "Add" and (both := vectors & set(add.input)):
                found[node.name] = (both.pop(), add)
    return found


def largest_activations(content: bytes, subject: Subject | Pictures, names: list[str]) -> dict[str, numpy.ndarray]:
    """The largest magnitude of each channel of these tensors, over the subject's examples."""
    import onnx
    import onnxruntime
    from onnx import TensorProto, helper

    model = onnx.load_from_string(content)
    model.graph.output.extend(helper.make_tensor_value_info(name, TensorProto.FLOAT, None) for name in names)
    session = onnxruntime.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])
    largest = dict.fromkeys(names, 0)
    for batch in subject.batches():
        given = dict(zip(subject.inputs, batch, strict=True))
        arrays = {one.name: given[one.name].numpy() for one in session.get_inputs()}
        for name, values in zip(names, session.run(names, arrays), strict=True):
            found = numpy.abs(values).reshape(-1, values.shape[-1]).max(axis=0)
            largest[name] = numpy.maximum(largest[name], found)
    return largest


def outliers(largest: numpy.ndarray) -> numpy.ndarray:
    """The largest channels, where the steps get at least half as small again without them."""
    order = numpy.argsort(largest)
    if len(order) <= OUTLIERS or largest[order[-1]] < 1.5 * largest[order[-OUTLIERS - 1]]:
        return order[:0]
    return numpy.sort(order[-OUTLIERS:])


def with_nodes(model: "onnx.ModelProto", nodes: list["onnx.NodeProto"], replaced: set[str]) -> bytes:  # noqa: F821
    """The model of these nodes, without tables that they no longer use."""
    del model.graph.node[:]
    model.graph.node.extend(nodes)
    unused = replaced - {name for node in nodes for name in node.input}
    for table in [one for one in model.graph.initializer if one.name in unused]:
        model.graph.initializer.remove(table)
    return model.SerializeToString()


def with_scales_of_words(content: bytes, names: list[str]) -> bytes:
    """With the tables of these lookups in int8, and a scale for each of their rows."""
    import onnx
    from onnx import TensorProto, helper, numpy_helper

    model = onnx.load_from_string(content)
    graph = model.graph
    tables = {table.name: table for table in graph.initializer}
    nodes, replaced = [], set()
    for node in graph.node:
        if node.name not in names or node.op_type != "Gather" or node.input[0] not in tables:
            nodes.append(node)
            continue
        table, ids = node.input
        replaced.add(table)
        values = numpy_helper.to_array(tables[table])
        scales = numpy.maximum(numpy.abs(values).max(axis=1, keepdims=True) / 127, numpy.finfo(numpy.float32).tiny)
        rounded = numpy.round(values / scales).astype(numpy.int8)
        int8, scale = f"{table}_int8", f"{table}_scale"
        graph.initializer.append(numpy_helper.from_array(rounded, int8))
        graph.initializer.append(numpy_helper.from_array(scales.astype(numpy.float32), scale))
        nodes += [
            helper.make_node("Gather", [int8, ids], [f"{int8}_taken"]),
            helper.make_node("Gather", [scale, ids], [f"{scale}_taken"]),
            helper.make_node("Cast", [f"{int8}_taken"], [f"{int8}_cast"], to=TensorProto.FLOAT),
            helper.make_node("Mul", [f"{int8}_cast", f"{scale}_taken"], [node.output[0]]),
        ]
    return with_nodes(model, nodes, replaced)
