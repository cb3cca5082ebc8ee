package dev.berth.reliability;

import static dev.berth.reliability.OnnxGraph.BOOL;
import static dev.berth.reliability.OnnxGraph.FLOAT;
import static dev.berth.reliability.OnnxGraph.INT64;
import static dev.berth.reliability.OnnxGraph.attribute;

import java.io.IOException;
import java.io.RandomAccessFile;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/// ONNX files that harm the server that loads or runs them, beside other models in one server.
final class HostileGraphs {

    /// Not in the checkout, as its tools would read what is in there.
    private static final Path DIRECTORY = Path.of(
            System.getProperty("java.io.tmpdir"), "berth-reliability-graphs-" + System.getProperty("user.name"));

    /// Of which a file says that it has them, and has not.
    private static final long TOO_MANY = 1_900_000_000;

    private static final String RELU = "relu";
    private static final String LOOP = "loop";
    private static final String WEIGHTS = "weights";
    private static final String HEAVY = "heavy";
    private static final int HEAVY_MODELS = 3;
    private static final long HEAVY_BYTES = 48L << 20;
    private static final int FLOATS = 1 << 20;

    /// Answered at once, and never.
    private static final String SHORT = "[[3, 1]]";

    private static final String ENDLESS = """
      {"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 2], "data": [1e15, 1]}], "parameters": {"timeout": 2000000}}\
      """;

    private static final int ASKED_MEANWHILE = 8;

    /// protobuf's own libraries read messages in 100 others at most, and each branch is in three.
    private static final int NESTED = 30;

    private static final int DOUBLED = 12;
    private static final int CLIENTS = 4;
    private static final int SLICES = 64;
    private static final Duration SLICE = Duration.ofMillis(10);
    private static final Duration BETWEEN = Duration.ofMillis(200);
    private static final Duration BEGUN = Duration.ofSeconds(1);
    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private HostileGraphs() {}

    static List<Attacks.Case> all() {
        var launch = Target.Launch.of(Seeds.Model.GRAPHS)
                .with("--timeout", "20", "--load-timeout-seconds", "10", "--models-memory", "300");
        return List.of(
                Attacks.watched("graphs-rows-of-many-clients", launch, Rows::ask),
                Attacks.watched("graphs-that-can-not-be-loaded", launch, HostileGraphs::load),
                Attacks.watched("graphs-weights-rewritten-in-place", launch, HostileGraphs::rewrite),
                Attacks.watched("graphs-endless-forwards", launch, HostileGraphs::askForEver),
                Attacks.watched("graphs-endless-forward-and-unload", launch, HostileGraphs::unload),
                Attacks.watched("graphs-endless-forward-and-reload", launch, HostileGraphs::reload)
                        .inLongForm(),
                Attacks.watched(
                        "graphs-endless-forward-and-eviction",
                        launch.with(Target.Trait.ONE_PROCESSOR),
                        HostileGraphs::evict),
                Attacks.bare("graphs-endless-forward-and-sigterm", launch, HostileGraphs::stop));
    }

    /// A directory of models.
    static Path models() {
        for (var file : List.of("model.json", "model.pt", "tokenizer.json")) {
            made(Target.STEADY, file, Seeds.read(Path.of("model-artifact", file)));
        }
        hostile().forEach((name, model) -> made(name, model));
        made(RELU, graph().node("Relu", List.of("x"), "y").model());
        for (int i = 0; i < ASKED_MEANWHILE; i++) {
            made(RELU + i, graph().node("Relu", List.of("x"), "y").model());
        }
        made(LOOP, loop(1));
        made(WEIGHTS, lowestAndHighest(FLOATS));
        made(WEIGHTS, "model.onnx.data", weights(1));
        for (int i = 0; i < HEAVY_MODELS; i++) {
            made(HEAVY + i, lowestAndHighest(HEAVY_BYTES / Float.BYTES));
            grow(DIRECTORY.resolve(HEAVY + i).resolve("model.onnx.data"), HEAVY_BYTES);
        }
        Rows.models().forEach((name, model) -> made(name, model));
        grow(made("sparse", sparse()), TOO_MANY);
        return DIRECTORY;
    }

    /// Each is refused. None may take the place of those that come after it.
    private static Map<String, byte[]> hostile() {
        var hostile = new LinkedHashMap<String, byte[]>();
        var whole = graph().node("Relu", List.of("x"), "y").model();
        hostile.put("empty", new byte[0]);
        hostile.put("half", Arrays.copyOf(whole, whole.length / 2));
        hostile.put("without-its-end", Arrays.copyOf(whole, whole.length - 3));
        hostile.put("sparse", sparse());
        hostile.put("says-too-much", sparse());
        hostile.put("nested", nested(NESTED));
        hostile.put("calls-itself", graph().call("F", "x", "y").model(List.of(OnnxGraph.function("F", "F"))));
        var doubling = new ArrayList<Protobuf>();
        for (int i = 0; i < 28; i++) {
            doubling.add(OnnxGraph.function("F" + i, "F" + (i + 1), "F" + (i + 1)));
        }
        hostile.put("doubles", graph().call("F0", "x", "y").model(doubling));
        return hostile;
    }

    /// The name of an input of a node, of which only the length is there.
    private static byte[] sparse() {
        var name = new Protobuf().start(1, TOO_MANY).toBytes();
        var node = new Protobuf().start(1, name.length + TOO_MANY).toBytes();
        return Seeds.join(
                new Protobuf().number(1, 8).toBytes(),
                new Protobuf().start(7, node.length + name.length + TOO_MANY).toBytes(),
                node,
                name);
    }

    /// Branches in branches, the innermost of which are there twice.
    private static byte[] nested(int depth) {
        var inner = new OnnxGraph().node("Identity", List.of("x"), "y").output("y", FLOAT);
        for (int i = 0; i < depth; i++) {
            var other = i < DOUBLED
                    ? inner
                    : new OnnxGraph().node("Identity", List.of("x"), "z" + i).output("z" + i, FLOAT);
            inner = new OnnxGraph()
                    .node("If", List.of("c"), "y" + i, attribute("then_branch", inner), attribute("else_branch", other))
                    .output("y" + i, FLOAT);
        }
        return graph().constant("c", BOOL, 1)
                .node("If", List.of("c"), "y", attribute("then_branch", inner), attribute("else_branch", inner))
                .model();
    }

    private static OnnxGraph graph() {
        return new OnnxGraph().input("x", FLOAT, "n", "m").output("y", FLOAT, "n", "m");
    }

    /// Gives the request back, multiplied, after as many rounds as its highest number says.
    private static byte[] loop(float factor) {
        var body = new OnnxGraph()
                .input("i", INT64)
                .input("on", BOOL)
                .input("v", FLOAT, "n", "m")
                .node("Identity", List.of("on"), "still")
                .node("Identity", List.of("v"), "w")
                .output("still", BOOL)
                .output("w", FLOAT, "n", "m");
        return graph().constant("true", BOOL, 1)
                .constant("factor", factor)
                .node("ReduceMax", List.of("x"), "highest", attribute("keepdims", 0))
                .node("Cast", List.of("highest"), "rounds", attribute("to", INT64))
                .node("Loop", List.of("rounds", "true", "x"), "same", attribute("body", body))
                .node("Mul", List.of("same", "factor"), "y")
                .model();
    }

    /// The lowest and the highest of all weights, times the request. They are the same where all
    /// weights are of one version.
    private static byte[] lowestAndHighest(long floats) {
        var rows = attribute("axes", new long[] {1});
        return new OnnxGraph()
                .input("x", FLOAT, "n", 1)
                .weightsIn("model.onnx.data", "w", floats)
                .node("Mul", List.of("x", "w"), "all")
                .node("ReduceMin", List.of("all"), "low", rows)
                .node("ReduceMax", List.of("all"), "high", rows)
                .node("Concat", List.of("low", "high"), "y", attribute("axis", 1))
                .output("y", FLOAT, "n", 2)
                .model();
    }

    private static byte[] weights(float version) {
        var bytes = ByteBuffer.allocate(FLOATS * Float.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            bytes.putFloat(version);
        }
        return bytes.array();
    }

    private static Path made(String name, byte[] model) {
        return made(name, "model.onnx", model);
    }

    private static Path made(String name, String file, byte[] content) {
        return Seeds.made(DIRECTORY.toString(), name + "/" + file, content)
                .resolve(name)
                .resolve(file);
    }

    /// A file of a length that it does not take on the disk.
    private static void grow(Path file, long length) {
        try (var open = new RandomAccessFile(file.toFile(), "rw")) {
            open.setLength(length);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// All at once, and again, as those who get 503 are told. Nothing else is worth another try.
    /// Others are loaded after them.
    private static void load(Attacks attack) throws Exception {
        for (boolean isFirst : new boolean[] {true, false}) {
            var asked = new ArrayList<Future<?>>();
            for (var name : hostile().keySet()) {
                asked.add(Attacks.start(() -> {
                    var answer = attack.counted(attack.exchange(request(name, SHORT)));
                    boolean isRefused = answer.status() >= 400 && (answer.status() != 503 || isFirst);
                    attack.row()
                            .expect(
                                    "%s was answered by %d: %s".formatted(name, answer.status(), answer.text()),
                                    isRefused || name.equals("nested"));
                }));
            }
            join(asked);
        }
        for (int i = 0; i < ASKED_MEANWHILE; i++) {
            await(attack, RELU + i, SHORT, "3.0,1.0");
        }
    }

    /// While the file with the weights is written anew, by others than `mv`: cut off and written
    /// again, as exporters and `cp` do, and written over.
    private static void rewrite(Attacks attack) throws Exception {
        var file = DIRECTORY.resolve(WEIGHTS).resolve("model.onnx.data");
        var newest = new AtomicInteger(1);
        var ends = new AtomicBoolean();
        var clients = new ArrayList<Future<?>>();
        await(attack, WEIGHTS, "[[1]]", "1.0,1.0");
        for (int i = 0; i < CLIENTS; i++) {
            clients.add(Attacks.start(() -> askForWeights(attack, newest, ends)));
        }
        try {
            newest.set(2);
            grow(file, 0);
            overwrite(file, weights(2));
            await(attack, WEIGHTS, "[[1]]", "2.0,2.0");
            if (attack.isStrict()) {
                newest.set(3);
                overwrite(file, weights(3));
                await(attack, WEIGHTS, "[[1]]", "3.0,3.0");
            }
        } finally {
            ends.set(true);
        }
        for (var client : clients) {
            client.get();
        }
    }

    private static void askForWeights(Attacks attack, AtomicInteger newest, AtomicBoolean ends) throws IOException {
        double last = 1;
        while (!ends.get()) {
            var answer = attack.exchange(request(WEIGHTS, "[[1]]"));
            if (attack.counted(answer).status() == 200) {
                var values = Watch.fractions(answer.text());
                double value = values.getFirst();
                attack.row()
                        .expect(
                                "weights that were never together answered " + answer.text(),
                                values.equals(List.of(value, value)) && value >= last && value <= newest.get());
                last = Math.max(last, value);
            } else {
                expectRefused(attack, WEIGHTS, answer);
            }
        }
    }

    /// Slowly, so that the server reads some of it before the rest is there.
    private static void overwrite(Path file, byte[] bytes) throws Exception {
        int slice = bytes.length / SLICES;
        try (var open = new RandomAccessFile(file.toFile(), "rw")) {
            for (int at = 0; at < bytes.length; at += slice) {
                open.seek(at);
                open.write(bytes, at, slice);
                Thread.sleep(SLICE);
            }
        }
    }

    /// Another model is answered each time while the forwards run.
    private static void askForEver(Attacks attack) throws Exception {
        await(attack, LOOP, SHORT, "3.0,1.0");
        await(attack, RELU, SHORT, "3.0,1.0");
        var endless = endless(attack, 2);
        for (int i = 0; i < ASKED_MEANWHILE; i++) {
            var answer = attack.counted(attack.exchange(request(RELU, SHORT)));
            attack.row()
                    .expect(
                            "another model was answered by %d: %s".formatted(answer.status(), answer.text()),
                            isAnswer(answer, "3.0,1.0"));
            Thread.sleep(BETWEEN);
        }
        join(endless);
        await(attack, LOOP, SHORT, "3.0,1.0");
    }

    /// Once after the client was told that its time is over, and once before.
    private static void unload(Attacks attack) throws Exception {
        for (boolean isOver : new boolean[] {true, false}) {
            await(attack, LOOP, SHORT, "3.0,1.0");
            var endless = endless(attack, 1);
            if (isOver) {
                join(endless);
            }
            var answer = attack.counted(attack.exchange(Seeds.request("DELETE", "/models/" + LOOP, "", new byte[0])));
            attack.row()
                    .expect(
                            "an unload was answered by %d: %s".formatted(answer.status(), answer.text()),
                            answer.status() == 200);
            join(endless);
            await(attack, LOOP, SHORT, "3.0,1.0");
        }
    }

    private static void reload(Attacks attack) throws Exception {
        await(attack, LOOP, SHORT, "3.0,1.0");
        var endless = endless(attack, 1);
        made(LOOP, ".new", loop(2));
        var directory = DIRECTORY.resolve(LOOP);
        Files.move(directory.resolve(".new"), directory.resolve("model.onnx"), StandardCopyOption.REPLACE_EXISTING);
        await(attack, LOOP, SHORT, "6.0,2.0");
        join(endless);
        made(LOOP, loop(1));
        await(attack, LOOP, SHORT, "3.0,1.0");
    }

    /// Others are loaded until there is no memory for those that were asked before. There is one
    /// processor: with several, each of these models has more sessions and needs more than there is.
    private static void evict(Attacks attack) throws Exception {
        await(attack, LOOP, SHORT, "3.0,1.0");
        join(endless(attack, 1));
        for (int i = 0; i < HEAVY_MODELS; i++) {
            await(attack, HEAVY + i, "[[1]]", "0.0,0.0");
        }
        var found = attack.counted(attack.exchange(Seeds.request("GET", "/models/" + LOOP, "", new byte[0])));
        attack.row()
                .expect(
                        "%s was not evicted: %s".formatted(LOOP, found.text()),
                        found.text().contains("not loaded"));
        await(attack, LOOP, SHORT, "3.0,1.0");
    }

    private static void stop(Attacks attack) throws Exception {
        attack.awaitReady();
        await(attack, LOOP, SHORT, "3.0,1.0");
        var endless = endless(attack, 1);
        int code = attack.expectEnd();
        attack.row().expect("SIGTERM ended it with %d, expected 0".formatted(code), code == 0);
        join(endless);
    }

    /// Asks for what never ends, by clients that have two seconds, and waits until the server is at
    /// it.
    private static List<Future<?>> endless(Attacks attack, int times) throws Exception {
        var asked = new ArrayList<Future<?>>();
        for (int i = 0; i < times; i++) {
            asked.add(Attacks.start(() -> {
                var answer =
                        attack.counted(attack.exchange(Bombs.json(ENDLESS).request("/v2/models/" + LOOP + "/infer")));
                expectRefused(attack, LOOP, answer);
            }));
        }
        Thread.sleep(BEGUN);
        return asked;
    }

    private static void join(List<Future<?>> asked) throws Exception {
        for (var each : asked) {
            each.get();
        }
    }

    private static void expectRefused(Attacks attack, String model, Wire.Answer answer) {
        attack.row()
                .expect(
                        "%s was answered by %d: %s".formatted(model, answer.status(), answer.text()),
                        answer.status() == 503 || answer.status() == 504);
    }

    /// Asks again while the answer is another one, as it is before a new version is loaded.
    private static void await(Attacks attack, String model, String text, String numbers) throws Exception {
        long deadline = System.nanoTime() + PATIENCE.toNanos();
        var answer = attack.counted(attack.exchange(request(model, text)));
        while (!isAnswer(answer, numbers) && System.nanoTime() < deadline) {
            Thread.sleep(BETWEEN);
            answer = attack.counted(attack.exchange(request(model, text)));
        }
        attack.row()
                .expect(
                        "%s was answered by %d, %s, expected %s"
                                .formatted(model, answer.status(), answer.text(), numbers),
                        isAnswer(answer, numbers));
    }

    private static boolean isAnswer(Wire.Answer answer, String numbers) {
        return answer.status() == 200
                && answer.text().replaceAll("[^-0-9.,E]", "").equals(numbers);
    }

    private static byte[] request(String model, String text) {
        return Bombs.json(text).request("/models/" + model + "/invoke");
    }
}
