package dev.berth.engine.onnx;

import java.util.HashMap;
import java.util.Map;

/// How long ONNX Runtime would load a model, as far as its nodes tell: some 15 µs for each, twice
/// as long for each level that it is deeper. It goes through the graph of a branch or a loop twice
/// as often as through the graph around it, and puts the nodes of a function wherever that is
/// called. A file of 2 kB may take it minutes, or for ever.
final class OnnxCost {

    private static final double MOST = 1 << 21;

    /// How deep functions may call each other.
    private static final int MOST_CALLS = 32;

    /// The nodes of the model, or of a function, with those of their branches and loops.
    static final class Scope {

        private double nodes;

        /// What its calls cost by what they call, which may be a function.
        private final Map<String, Double> calls = new HashMap<>();

        /// Negative until it is known.
        private double cost = -1;
    }

    private final Map<String, Scope> functions = new HashMap<>();
    private final Scope model = new Scope();

    /// Where the next node belongs.
    private Scope scope = model;

    /// How many graphs of branches and loops are around the next node.
    private int level;

    /// The nodes of a function come next.
    void beginFunction() {
        scope = new Scope();
    }

    void endFunction(String name) {
        functions.put(name, scope);
        scope = model;
    }

    /// The nodes of a branch or a loop come next.
    void beginGraph() {
        level++;
    }

    void endGraph() {
        level--;
    }

    /// @param called the operator or function of the node
    /// @return whether it is the first one that calls this
    boolean add(String called) {
        double cost = Math.scalb(1.0, level);
        scope.nodes += cost;
        return scope.calls.merge(called, 2 * cost, Double::sum) == 2 * cost;
    }

    /// Once all nodes are there.
    boolean isTooMuch() {
        return cost(model, 0) > MOST;
    }

    private double cost(Scope of, int calls) {
        if (of.cost < 0) {
            // That of what calls itself or calls too deeply.
            of.cost = Double.POSITIVE_INFINITY;
            double cost = of.nodes;
            for (var call : of.calls.entrySet()) {
                var called = functions.get(call.getKey());
                if (called != null) {
                    cost += calls < MOST_CALLS ? call.getValue() * cost(called, calls + 1) : of.cost;
                }
            }
            of.cost = cost;
        }
        return of.cost;
    }
}
