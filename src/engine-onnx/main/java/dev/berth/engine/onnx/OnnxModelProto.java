package dev.berth.engine.onnx;

import dev.berth.engine.GraphNames;
import dev.berth.engine.onnx.ProtobufReader.TooMuchException;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// What an ONNX file says of its model: the message `ModelProto` of `onnx.proto`, of which the few
/// fields are read that are needed here. Weights are skipped. Used by one thread.
final class OnnxModelProto {

    private static final Pattern INTEGERS = Pattern.compile("^Q|Integer|Quantize");

    private final ProtobufReader in;

    /// Names to look for among the inputs of nodes and the outputs, and those that are there.
    private final Set<String> wanted;

    private final Set<String> used = new HashSet<>();

    private final boolean keepsNodes;

    /// The nodes of the graph itself in their order, which is that of the work, where they are kept.
    private final List<Node> nodes = new ArrayList<>();

    private final Map<String, OnnxType> inputs = new LinkedHashMap<>();

    /// The inputs that have a value already.
    private final Set<String> initialized = new HashSet<>();

    private final List<String> outputs = new ArrayList<>();

    /// The outputs that are texts.
    private final Set<String> texts = new HashSet<>();

    /// Those of inputs and outputs by their names.
    private final Map<String, List<Integer>> shapes = new HashMap<>();

    private final Map<String, List<String>> symbols = new HashMap<>();

    /// Inputs and outputs that may have no value.
    private final List<String> optional = new ArrayList<>();

    private final Set<String> weights = new LinkedHashSet<>();
    private final List<OnnxTensorProto> external = new ArrayList<>();
    private int externals;

    /// How many tensors have weights in `float16`, less those in `float32`.
    private int halves;

    private boolean hasZeroPoints = true;
    private boolean scalesBatches;

    /// How many graphs there have been inside of nodes.
    private int graphs;

    private final OnnxCost cost = new OnnxCost();

    /// @throws TooMuchException when it must not be loaded
    static OnnxModelProto read(Path file) throws IOException {
        return read(file, Set.of(), false);
    }

    private static OnnxModelProto read(Path file, Set<String> wanted, boolean keepsNodes) throws IOException {
        try (var content = Files.newInputStream(file)) {
            return new OnnxModelProto(new ProtobufReader(content), wanted, keepsNodes);
        }
    }

    private OnnxModelProto(ProtobufReader in, Set<String> wanted, boolean keepsNodes) throws IOException {
        this.in = in;
        this.wanted = wanted;
        this.keepsNodes = keepsNodes;
        in.fields(field -> {
            switch (field) {
                case 7 -> in.message(this::graph);
                case 20 -> in.message(this::training);
                case 25 -> function();
                default -> {}
            }
        });
        if (cost.isTooMuch()) {
            throw new TooMuchException(
                    "its branches, loops or functions are too deep in each other to be loaded; export it with fewer levels");
        }
        inputs.keySet().removeAll(initialized);
    }

    /// The message `TrainingInfoProto`.
    private void training(int field) throws IOException {
        if (field == 1 || field == 2) {
            in.message(this::innerGraph);
        }
    }

    private void graph(int field) throws IOException {
        switch (field) {
            case 1 -> {
                var node = new Node();
                if (keepsNodes) {
                    nodes.add(node);
                }
                node(node);
            }
            case 5 -> tensor(true);
            case 11 -> value(true);
            case 12 -> value(false);
            default -> innerGraph(field);
        }
    }

    /// The graph of a branch, a loop or a function has inputs of its own.
    private void innerGraph(int field) throws IOException {
        switch (field) {
            case 1 -> node(new Node());
            case 5 -> tensor(false);
            case 15 -> in.message(this::sparseTensor);
            default -> {}
        }
    }

    private void function() throws IOException {
        var name = new String[] {"", ""};
        cost.beginFunction();
        in.message(field -> {
            switch (field) {
                case 1 -> name[1] = in.text();
                case 10 -> name[0] = in.text();
                case 7 -> node(new Node());
                case 11 -> in.message(this::attribute);
                default -> {}
            }
        });
        cost.endFunction(in.keep(name[0] + ":" + name[1]));
    }

    private void node(Node node) throws IOException {
        int before = graphs;
        in.message(node::field);
        node.hasGraph = graphs > before;
        scalesBatches |= node.type.startsWith("DynamicQuantize");
        hasZeroPoints &= switch (node.type) {
            case "MatMulInteger" -> node.count == 4 && node.last > 0;
            case "DynamicQuantizeLinear", "DequantizeLinear", "QuantizeLinear" -> true;
            default -> !INTEGERS.matcher(node.type).find();
        };
        var called = node.domain + ":" + node.type;
        if (cost.add(called)) {
            in.keep(called);
        }
    }

    /// A node: the message `NodeProto`.
    private final class Node {

        /// The names of its inputs and outputs, where nodes are kept.
        private final List<String> inputs = new ArrayList<>();

        private final List<String> outputs = new ArrayList<>();

        /// How many inputs it has, and the length of the last one's name.
        private int count;

        private int last;

        private String domain = "";
        private String type = "";
        private boolean hasGraph;

        private void field(int field) throws IOException {
            switch (field) {
                case 1 -> {
                    count++;
                    last = input();
                }
                case 2 -> {
                    if (keepsNodes) {
                        outputs.add(in.keep(in.text()));
                    }
                }
                case 4 -> type = in.text();
                case 5 -> in.message(OnnxModelProto.this::attribute);
                case 7 -> domain = in.text();
                default -> {}
            }
        }

        private int input() throws IOException {
            if (keepsNodes) {
                inputs.add(in.keep(in.text()));
                return inputs.getLast().length();
            }
            if (wanted.isEmpty()) {
                return in.skipText();
            }
            var name = in.text();
            use(name);
            return name.length();
        }
    }

    private void use(String name) {
        if (wanted.contains(name)) {
            used.add(name);
        }
    }

    private void attribute(int field) throws IOException {
        switch (field) {
            case 5, 10 -> tensor(false);
            case 6, 11 -> {
                graphs++;
                cost.beginGraph();
                in.message(this::innerGraph);
                cost.endGraph();
            }
            case 22, 23 -> in.message(this::sparseTensor);
            default -> {}
        }
    }

    private void sparseTensor(int field) throws IOException {
        if (field == 1 || field == 2) {
            tensor(false);
        }
    }

    /// @param ofModel whether it is an initializer of the model's own graph
    private void tensor(boolean ofModel) throws IOException {
        var tensor = new OnnxTensorProto(in);
        halves += tensor.type() == OnnxType.FLOAT16 ? 1 : tensor.type() == OnnxType.FLOAT32 ? -1 : 0;
        if (ofModel) {
            initialized.add(in.keep(tensor.name()));
        }
        if (tensor.location().isPresent()) {
            externals++;
            weights.add(in.keep(tensor.location().get()));
            if (ofModel) {
                external.add(tensor);
            }
        }
    }

    private void value(boolean isInput) throws IOException {
        var value = new OnnxValueProto(in);
        var name = value.name();
        if (value.isOptional()) {
            optional.add("%s %s".formatted(isInput ? "input" : "output", name));
        }
        if (isInput) {
            inputs.put(name, value.type());
        } else {
            outputs.add(name);
            use(name);
            if (value.type() == OnnxType.STRING) {
                texts.add(name);
            }
        }
        if (value.hasShape()) {
            shapes.put(name, List.copyOf(value.shape()));
            symbols.put(name, List.copyOf(value.symbols()));
        }
    }

    /// @param file that this is of
    GraphNames names(Path file) throws IOException {
        var types =
                inputs.values().stream().flatMap(type -> type.takes().stream()).toList();
        return new GraphNames(
                List.copyOf(inputs.keySet()),
                types.size() == inputs.size() ? types : List.of(),
                inputs.size(),
                outputs,
                texts,
                shapes,
                symbols,
                constants(file),
                List.copyOf(weights),
                halves > 0,
                scalesBatches,
                Optional.empty());
    }

    /// The outputs that no input reaches. What the graph inside a node uses is not looked at. Only an
    /// output of one shape can be such, and so nodes are not kept for others.
    private Set<String> constants(Path file) throws IOException {
        var constants = outputs.stream()
                .filter(output ->
                        shapes.containsKey(output) && !shapes.get(output).contains(-1))
                .collect(Collectors.toCollection(HashSet::new));
        if (constants.isEmpty()) {
            return constants;
        }
        try {
            var reached = new HashSet<>(inputs.keySet());
            for (var node : read(file, Set.of(), true).nodes) {
                if (node.hasGraph || node.inputs.stream().anyMatch(reached::contains)) {
                    reached.addAll(node.outputs);
                }
            }
            constants.removeAll(reached);
            return constants;
        } catch (TooMuchException _) {
            return Set.of();
        }
    }

    /// ONNX Runtime drops what no node takes, and knows nothing of it then. The nodes come first in a
    /// file, so it is read once more.
    ///
    /// @param file that this is of
    void dropUnused(Path file) throws IOException {
        if (external.isEmpty()) {
            return;
        }
        var found = read(file, external.stream().map(OnnxTensorProto::name).collect(Collectors.toSet()), false).used;
        externals -= external.size();
        external.removeIf(tensor -> !found.contains(tensor.name()));
        externals += external.size();
    }

    /// Whether it returns anything.
    boolean hasOutputs() {
        return !outputs.isEmpty();
    }

    /// An input or output that may have no value, which ONNX Runtime's Java knows no type for.
    Optional<String> optional() {
        return optional.stream().findFirst();
    }

    /// The files that hold weights, relative to this one.
    Set<String> weights() {
        return weights;
    }

    /// The tensors of the model itself whose elements are in other files.
    List<OnnxTensorProto> external() {
        return external;
    }

    /// How many tensors have their elements in other files, with those of branches, loops and
    /// functions.
    int externals() {
        return externals;
    }

    /// Whether all products of integers are of MatMulInteger and name the zero points of both sides.
    boolean hasZeroPoints() {
        return hasZeroPoints;
    }
}
