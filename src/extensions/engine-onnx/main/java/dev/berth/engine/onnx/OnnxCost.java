package dev.berth.engine.onnx;

import dev.berth.engine.onnx.OnnxMessage.Kind;
import java.util.HashMap;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// How long ONNX Runtime would load a model, as far as its nodes tell: some 15 µs for each, twice
/// as long for each level that it is deeper. It goes through the graph of a branch or a loop twice
/// as often as through the graph around it, and puts the nodes of a function wherever that is
/// called. A file of 2 kB may take it minutes, or for ever.
final class OnnxCost {

    /// How deep a node may be: in branches and loops, and in functions that call each other.
    private static final int DEEPEST = 21;

    private static final double MOST = 1 << DEEPEST;

    private final Map<String, OnnxMessage> functions;

    /// Of the functions. One that calls itself is infinite, as is a node that is too deep.
    private final Map<String, Double> costs = new HashMap<>();

    private OnnxCost(OnnxMessage model) {
        functions = model.messages(25)
                .collect(Collectors.toMap(function -> name(function, 10, 1), function -> function, (_, last) -> last));
    }

    static boolean isTooMuch(OnnxMessage model) {
        var graphs = Stream.concat(model.messages(7), model.messages(20));
        return new OnnxCost(model).of(graphs, 0) > MOST;
    }

    /// The cost of the nodes in some messages.
    private double of(Stream<OnnxMessage> messages, int level) {
        return messages.flatMap(message -> message.outermost(Kind.NODE))
                .mapToDouble(node -> level > DEEPEST
                        ? Double.POSITIVE_INFINITY
                        : 1 + 2 * called(name(node, 7, 4), level) + 2 * of(Stream.of(node), level + 1))
                .sum();
    }

    private double called(String name, int level) {
        if (functions.containsKey(name) && !costs.containsKey(name)) {
            costs.put(name, Double.POSITIVE_INFINITY);
            costs.put(name, of(Stream.of(functions.get(name)), level + 1));
        }
        return costs.getOrDefault(name, 0.0);
    }

    /// What a node calls, and what a function is called.
    private static String name(OnnxMessage message, int domain, int name) {
        return message.text(domain) + ":" + message.text(name);
    }
}
