package dev.berth.engine.onnx;

import dev.berth.engine.GraphNames;
import dev.berth.engine.GraphPort;
import dev.berth.engine.onnx.OnnxMessage.Kind;
import dev.berth.engine.onnx.OnnxMessage.TooMuchException;
import dev.berth.hooks.ElementType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// What an ONNX file says of its model: the message `ModelProto` of `onnx.proto`. Used by one thread.
final class OnnxModelProto {

    private static final Pattern INTEGERS = Pattern.compile("^Q|Integer|Quantize");

    /// The nodes of the graph itself in their order, which is that of the work.
    private final List<OnnxMessage> nodes;

    /// Those of branches, loops and functions too.
    private final List<OnnxMessage> allNodes;

    private final List<OnnxTensorProto> initializers;

    /// Those of branches, loops, functions and attributes too.
    private final List<OnnxTensorProto> allTensors;

    private final List<OnnxMessage> inputs;
    private final List<OnnxMessage> outputs;

    /// @throws TooMuchException when it must not be loaded
    static OnnxModelProto read(Path file) throws IOException {
        return new OnnxModelProto(OnnxMessage.read(file));
    }

    private OnnxModelProto(OnnxMessage model) throws IOException {
        if (OnnxCost.isTooMuch(model)) {
            throw new TooMuchException(
                    "its branches, loops or functions are too deep in each other to be loaded; export it with fewer levels");
        }
        this.nodes = ofGraph(model, 1).toList();
        this.allNodes = model.all(Kind.NODE).toList();
        this.initializers = ofGraph(model, 5).map(OnnxTensorProto::of).toList();
        this.allTensors = model.all(Kind.TENSOR).map(OnnxTensorProto::of).toList();
        // An input may have a value already.
        var initialized = initializers.stream().map(OnnxTensorProto::name).collect(Collectors.toSet());
        this.inputs = ofGraph(model, 11)
                .filter(input -> !initialized.contains(name(input)))
                .toList();
        this.outputs = ofGraph(model, 12).toList();
    }

    /// What the graph of the model itself has in a field.
    private static Stream<OnnxMessage> ofGraph(OnnxMessage model, int field) {
        return model.messages(7).flatMap(graph -> graph.messages(field));
    }

    private static String name(OnnxMessage value) {
        return value.text(1);
    }

    GraphNames names() {
        var reached = reached();
        int halves = allTensors.stream()
                .mapToInt(tensor -> tensor.type() == OnnxType.FLOAT16 ? 1 : tensor.type() == OnnxType.FLOAT32 ? -1 : 0)
                .sum();
        return new GraphNames(
                inputs.stream()
                        .map(input -> port(input, OnnxType::takes, Set.of(name(input))))
                        .toList(),
                outputs.stream()
                        .map(output -> port(output, OnnxType::gives, reached))
                        .toList(),
                weights(),
                halves > 0,
                allNodes.stream().anyMatch(node -> operator(node).startsWith("DynamicQuantize")),
                Optional.empty());
    }

    private static GraphPort port(
            OnnxMessage value, Function<OnnxType, Optional<ElementType>> type, Set<String> reached) {
        var tensors = value.messages(2).flatMap(of -> of.messages(1)).toList();
        int element = tensors.stream().mapToInt(tensor -> tensor.number(1)).reduce(0, (_, last) -> last);
        var shapes = tensors.stream().flatMap(tensor -> tensor.messages(2)).toList();
        var dimensions = shapes.stream().flatMap(shape -> shape.messages(1)).toList();
        var lengths = dimensions.stream()
                .map(dimension ->
                        dimension.numbers(1).reduce(-1L, (_, last) -> last).intValue())
                .toList();
        return new GraphPort(
                name(value),
                type.apply(OnnxType.of(element)),
                Optional.of(lengths).filter(_ -> !shapes.isEmpty()),
                dimensions.stream().map(dimension -> dimension.text(2)).toList(),
                !shapes.isEmpty() && !lengths.contains(-1) && !reached.contains(name(value)));
    }

    /// What the inputs reach. What the graph inside a node uses is not looked at.
    private Set<String> reached() {
        var reached = inputs.stream().map(OnnxModelProto::name).collect(Collectors.toCollection(HashSet::new));
        for (var node : nodes) {
            boolean hasGraph = node.outermost(Kind.GRAPH).findAny().isPresent();
            if (hasGraph || node.texts(1).anyMatch(reached::contains)) {
                node.texts(2).forEach(reached::add);
            }
        }
        return reached;
    }

    private static String operator(OnnxMessage node) {
        return node.text(4);
    }

    boolean hasOutputs() {
        return !outputs.isEmpty();
    }

    /// The files that hold weights, relative to this one.
    List<String> weights() {
        return allTensors.stream()
                .flatMap(tensor -> tensor.location().stream())
                .distinct()
                .toList();
    }

    /// The tensors of the model itself whose elements are in other files. ONNX Runtime drops what no
    /// node takes, and knows nothing of it then.
    List<OnnxTensorProto> external() {
        var used = Stream.concat(
                        allNodes.stream().flatMap(node -> node.texts(1)),
                        outputs.stream().map(OnnxModelProto::name))
                .collect(Collectors.toSet());
        return initializers.stream()
                .filter(tensor -> tensor.location().isPresent() && used.contains(tensor.name()))
                .toList();
    }

    /// How many tensors have their elements in other files, with those of branches, loops and
    /// functions.
    long externals() {
        return external().size() + count(allTensors) - count(initializers);
    }

    private static long count(List<OnnxTensorProto> tensors) {
        return tensors.stream().filter(tensor -> tensor.location().isPresent()).count();
    }

    /// Whether all products of integers are of MatMulInteger and name the zero points of both sides.
    boolean hasZeroPoints() {
        return allNodes.stream().allMatch(node -> switch (operator(node)) {
            case "MatMulInteger" ->
                node.texts(1).count() == 4 && node.texts(1).skip(3).noneMatch(String::isEmpty);
            case "DynamicQuantizeLinear", "DequantizeLinear", "QuantizeLinear" -> true;
            case String other -> !INTEGERS.matcher(other).find();
        });
    }
}
