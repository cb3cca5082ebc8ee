package dev.berth.reliability;

import static dev.berth.reliability.OnnxGraph.FLOAT;
import static dev.berth.reliability.OnnxGraph.INT64;
import static dev.berth.reliability.OnnxGraph.attribute;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.Future;
import java.util.stream.Collectors;
import java.util.stream.DoubleStream;

/// Models of which a row depends on the others of its array. Many clients ask them at the same
/// time, and each must get the answer to its own array alone.
final class Rows {

    private static final String STEPS = "steps";
    private static final String CENTRED = "centred";
    private static final int CLIENTS = 32;
    private static final int TIMES = 6;
    private static final int MOST_ROWS = 40;
    private static final double RECURRENT = 0.5;

    private Rows() {}

    static Map<String, byte[]> models() {
        var steps = new OnnxGraph()
                .input("x", FLOAT, "steps", "batch", 1)
                .weights("w", 1)
                .weights("r", (float) RECURRENT)
                .constant("axis", INT64, 1, 1)
                .node("RNN", List.of("x", "w", "r"), "all", attribute("hidden_size", 1))
                .node("Squeeze", List.of("all", "axis"), "y")
                .output("y", FLOAT, "steps", "batch", 1);
        var centred = new OnnxGraph()
                .input("x", FLOAT, "n", 1)
                .node("ReduceMean", List.of("x"), "mean", attribute("axes", new long[] {0}))
                .node("Sub", List.of("x", "mean"), "y")
                .output("y", FLOAT, "n", 1);
        return Map.of(STEPS, steps.model(), CENTRED, centred.model());
    }

    static void ask(Attacks attack) throws Exception {
        var random = new SplittableRandom(1);
        for (int rows : new int[] {1, 2, MOST_ROWS}) {
            ask(attack, STEPS, numbers(random, rows), true);
            ask(attack, CENTRED, numbers(random, rows), true);
        }
        var clients = new ArrayList<Future<?>>();
        for (int i = 0; i < CLIENTS; i++) {
            var own = random.split();
            clients.add(Attacks.start(() -> {
                for (int j = 0; j < TIMES; j++) {
                    ask(attack, STEPS, numbers(own, 1 + own.nextInt(MOST_ROWS)), false);
                    ask(attack, CENTRED, numbers(own, 1 + own.nextInt(MOST_ROWS)), false);
                }
            }));
        }
        for (var client : clients) {
            client.get();
        }
    }

    private static double[] numbers(SplittableRandom random, int count) {
        return random.doubles(count, -1, 1).map(number -> (float) number).toArray();
    }

    /// @param isAlone whether there is room for it
    private static void ask(Attacks attack, String model, double[] numbers, boolean isAlone) throws IOException {
        var form = model.equals(STEPS) ? "[[%s]]" : "[%s]";
        var body = DoubleStream.of(numbers).mapToObj(form::formatted).collect(Collectors.joining(",", "[", "]"));
        var answer = attack.checked(attack.exchange(Bombs.json(body).request("/models/" + model + "/invoke")));
        if (answer.status() == 200) {
            var expected = model.equals(STEPS) ? states(numbers) : centred(numbers);
            attack.row().wrong(Watch.isNear(Watch.fractions(answer.text()), expected) ? 0 : 1);
        } else {
            attack.row()
                    .expect(
                            "an array of %d rows was answered by %d: %s"
                                    .formatted(numbers.length, answer.status(), answer.text()),
                            answer.isRefusal() && !isAlone);
        }
    }

    /// What a cell of `tanh` keeps from one step to the next.
    private static List<Double> states(double[] steps) {
        var states = new ArrayList<Double>();
        double state = 0;
        for (double step : steps) {
            state = Math.tanh(step + RECURRENT * state);
            states.add(state);
        }
        return states;
    }

    private static List<Double> centred(double[] numbers) {
        double mean = DoubleStream.of(numbers).average().orElseThrow();
        return DoubleStream.of(numbers).mapToObj(number -> number - mean).toList();
    }
}
