package dev.berth.engine.onnx;

import ai.onnxruntime.OnnxTensor;
import ai.onnxruntime.OnnxValue;
import ai.onnxruntime.OrtEnvironment;
import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtSession;
import ai.onnxruntime.providers.OrtCUDAProviderOptions;
import dev.berth.artifact.ModelJson;
import dev.berth.engine.EngineException;
import dev.berth.engine.EngineGraph;
import dev.berth.engine.InvalidInputException;
import dev.berth.engine.KeptTensor;
import dev.berth.engine.RowCheck;
import dev.berth.engine.cores.Cores;
import dev.berth.engine.cores.HelperThreads;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.Tensor;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedDeque;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// One ONNX file on the CPU or a GPU. Every native object that a forward makes is freed before it
/// returns.
final class OnnxGraph implements EngineGraph {

    private static final Logger log = LoggerFactory.getLogger(OnnxGraph.class);

    private static final Pattern TOO_NEW = Pattern.compile("\\bopset\\b|IR version");
    private static final Pattern UNKNOWN_OPERATOR =
            Pattern.compile("not a registered function/op|No Op registered|No opset import for domain");

    private static final Pattern NO_LOCALE = Pattern.compile("Failed to construct locale with name:([^:]*)");

    private static final Set<String> CPU = CpuFlags.read();

    private final OrtEnvironment environment;
    private final Accelerator accelerator;
    private final Cores cores = new Cores(HelperThreads.ENGINE);
    private final List<OrtSession.SessionOptions> options = new ArrayList<>();
    private final List<OrtSession> sessions = new ArrayList<>();

    /// Closed after the sessions.
    private final OnnxWeights weights = new OnnxWeights();

    /// Sessions of one thread that no forward runs in. The one that was used last is the first.
    private final Deque<OrtSession> idle = new ConcurrentLinkedDeque<>();

    private final List<OnnxValues.Input> inputs = new ArrayList<>();
    private final List<String> outputNames;
    private final Set<OnnxKept> kept = ConcurrentHashMap.newKeySet();

    /// @param operators libraries that have some
    /// @throws EngineException when the file can't be loaded
    OnnxGraph(OrtEnvironment environment, Path file, Accelerator accelerator, List<Path> operators) {
        this.environment = environment;
        this.accelerator = accelerator;
        var read = OnnxFile.checked(file);
        try {
            var entries = entries(file, read.model().hasZeroPoints(), CPU);
            weights.read(environment, file, read.model().external());
            open(file, operators, read, entries);
            if (read.hasChanged(file)) {
                throw new EngineException("its files have changed while they were read; load it again");
            }
            this.outputNames = List.copyOf(sessions.getFirst().getOutputNames());
        } catch (Throwable e) {
            close();
            throw failure(file, e);
        }
    }

    private void open(Path file, List<Path> operators, OnnxFile read, Map<String, String> entries) throws OrtException {
        for (int threads : threads(accelerator, read)) {
            sessions.add(
                    environment.createSession(file.toAbsolutePath().toString(), options(threads, operators, entries)));
            if (threads == 1) {
                idle.add(sessions.getLast());
            }
        }
        if (weights.count() < read.model().externals()) {
            log.warn(
                    "{}: {} of its tensors are in files that are mapped; do not write to these while it is served",
                    file,
                    read.model().externals() - weights.count());
        }
        if (!(accelerator instanceof Accelerator.Cpu)) {
            weights.close();
        }
        for (var input : sessions.getFirst().getInputInfo().values()) {
            inputs.add(OnnxValues.Input.of(input));
        }
        sessions.getFirst().getOutputInfo().values().forEach(OnnxValues::checkOutput);
    }

    private RuntimeException failure(Path file, Throwable e) {
        return switch (e) {
            case Error error -> throw error;
            case OrtException _
            when OnnxFailure.isShortage(e) ->
                new InsufficientMemoryException(
                        "there is no memory left for %s on %s: %s"
                                .formatted(file.getFileName(), accelerator, OnnxFailure.line(e)),
                        e);
            case OrtException ort -> OnnxFile.refused(file, reason(ort), e);
            default -> OnnxFile.refused(file, e.getMessage(), e);
        };
    }

    /// How many threads each session has; the one with several is the last. A session has its own
    /// threads, and there is no way to give a forward fewer of them.
    private static List<Integer> threads(Accelerator accelerator, OnnxFile file) {
        if (!(accelerator instanceof Accelerator.Cpu cpu)) {
            return List.of(1);
        }
        var single = Collections.nCopies(OnnxFile.singleThreaded(file.bytes(), cpu.cores()), 1);
        return switch (cpu.profile()) {
            case LATENCY -> List.of(cpu.cores());
            case THROUGHPUT -> single;
            case ADAPTIVE ->
                cpu.cores() == 1
                        ? single
                        : Stream.concat(single.stream(), Stream.of(cpu.cores())).toList();
        };
    }

    /// What each session is configured with.
    ///
    /// @param cpu what the processor can do
    static Map<String, String> entries(Path file, boolean hasZeroPoints, Set<String> cpu) {
        var entries = new HashMap<String, String>();
        // Threads that sleep between operators make a forward a sixth longer. Those that waited for the
        // next forward would take the cores of others.
        entries.put("session.intra_op.allow_spinning", "1");
        entries.put("session.force_spinning_stop", "1");
        // By the name alone it might be taken for ONNX Runtime's own format.
        entries.put("session.load_model_format", "ONNX");
        // A CPU without VNNI sums two products of 8 bits in 16, which is too few. This tells ONNX
        // Runtime to be exact. Version 1.28 ends the process where a zero point is missing, and with
        // VNNI it takes twice as long for nothing.
        if (hasZeroPoints && Collections.disjoint(cpu, Set.of("avx512_vnni", "avx_vnni"))) {
            entries.put("session.x64quantprecision", "1");
        }
        var json = ModelJson.nearest(file.resolveSibling(""));
        if (json.has("fastMath")) {
            json.choice("fastMath", List.of("bf16"));
            json.stopIfWrong();
            entries.put("mlas.enable_gemm_fastmath_arm64_bfloat16", "1");
            // Linux's name on Arm. On x86 there are others, such as avx512_bf16.
            if (!cpu.contains("bf16")) {
                log.warn("{}: fastMath in model.json has no effect: this CPU has no bf16 of Arm", file);
            }
        }
        return entries;
    }

    private OrtSession.SessionOptions options(int threads, List<Path> operators, Map<String, String> entries)
            throws OrtException {
        var options = new OrtSession.SessionOptions();
        this.options.add(options);
        options.setIntraOpNumThreads(threads);
        for (var entry : entries.entrySet()) {
            options.addConfigEntry(entry.getKey(), entry.getValue());
        }
        // There would be a pattern for each shape that ever came.
        options.setMemoryPatternOptimization(false);
        if (accelerator instanceof Accelerator.Gpu(int index)) {
            try (var cuda = new OrtCUDAProviderOptions(index)) {
                // All algorithms would be tried for each new shape.
                cuda.add("cudnn_conv_algo_search", "HEURISTIC");
                options.addCUDA(cuda);
            }
        }
        weights.giveTo(options, accelerator);
        for (var library : operators) {
            options.registerCustomOpLibrary(library.toString());
        }
        return options;
    }

    private static String reason(OrtException e) {
        var message = OnnxFailure.line(e);
        if (TOO_NEW.matcher(message).find()) {
            return message + "; export it with an older opset_version";
        }
        if (UNKNOWN_OPERATOR.matcher(message).find()) {
            return message + "; name the library that has it with --extra-libraries or BERTH_EXTRA_LIBRARIES";
        }
        if (message.contains("Could not find an implementation for")) {
            return message + "; export it with a newer opset_version, or with weights in float32";
        }
        if (message.contains("Invalid ONNXType")) {
            return "an input or output is of an optional type, expected a tensor of numbers or texts; export it without";
        }
        var locale = NO_LOCALE.matcher(message);
        return locale.find()
                ? "its locale %s is not here; export it with the locale C.UTF-8".formatted(locale.group(1))
                : message;
    }

    @Override
    public List<String> inputNames() {
        return inputs.stream().map(OnnxValues.Input::name).toList();
    }

    @Override
    public List<String> outputNames() {
        return outputNames;
    }

    @Override
    public List<Tensor> forward(List<Tensor> inputs, List<KeptTensor> kept, int mostCores) {
        var own = KeptTensor.all(kept, OnnxKept.class);
        // Only this thread tells, and a forward may run on another.
        boolean isOfCheck = RowCheck.isRunning();
        return accelerator instanceof Accelerator.Cpu cpu
                ? cores.run(
                        cpu,
                        mostCores,
                        inputs.stream().mapToLong(Tensor::size).sum(),
                        threads -> threads == 1
                                ? run(inputs, own, isOfCheck)
                                : run(sessions.getLast(), inputs, own, isOfCheck))
                : run(inputs, own, false);
    }

    /// It goes to the last of the inputs, which have the type that it has now.
    @Override
    public KeptTensor keep(Tensor tensor) {
        try {
            return new OnnxKept(OnnxValues.in(tensor, environment), kept);
        } catch (OrtException e) {
            throw OnnxFailure.of(e);
        }
    }

    private List<Tensor> run(List<Tensor> tensors, List<OnnxKept> kept, boolean isOfCheck) {
        var own = idle.pollFirst();
        try {
            return run(own == null ? sessions.getFirst() : own, tensors, kept, isOfCheck);
        } finally {
            if (own != null) {
                idle.addFirst(own);
            }
        }
    }

    private List<Tensor> run(OrtSession session, List<Tensor> tensors, List<OnnxKept> kept, boolean isOfCheck) {
        if (tensors.size() + kept.size() != inputs.size()) {
            throw new InvalidInputException(
                    "the model takes %d tensors, %s, found %d"
                            .formatted(inputs.size(), inputNames(), tensors.size() + kept.size()),
                    null);
        }
        var copies = new ArrayList<OnnxTensor>(tensors.size());
        try {
            var given = new LinkedHashMap<String, OnnxTensor>();
            for (int i = 0; i < tensors.size(); i++) {
                copies.add(OnnxValues.in(tensors.get(i), inputs.get(i), environment));
                given.put(inputs.get(i).name(), copies.getLast());
            }
            for (int i = 0; i < kept.size(); i++) {
                given.put(inputs.get(tensors.size() + i).name(), kept.get(i).tensor());
            }
            return outputs(OnnxRun.run(session, given, isOfCheck), kept);
        } catch (OrtException e) {
            throw OnnxFailure.of(e);
        } finally {
            copies.forEach(OnnxTensor::close);
        }
    }

    /// Reads the outputs, the last of which take the place of `kept`.
    private static List<Tensor> outputs(OrtSession.Result result, List<OnnxKept> kept) throws OrtException {
        var values = new ArrayList<OnnxValue>(result.size());
        for (int i = 0; i < result.size(); i++) {
            values.add(result.get(i));
        }
        try {
            int own = values.size() - kept.size();
            if (own < 0 || !values.stream().skip(own).allMatch(OnnxTensor.class::isInstance)) {
                throw new EngineException(
                        "the model returned %d outputs, expected %d tensors at the end, as many as it was given"
                                .formatted(values.size(), kept.size()));
            }
            var outputs = new ArrayList<Tensor>(own);
            for (var value : values.subList(0, own)) {
                outputs.add(OnnxValues.out(value));
            }
            for (var each : kept) {
                each.become((OnnxTensor) values.remove(own));
            }
            return outputs;
        } finally {
            values.forEach(OnnxValue::close);
        }
    }

    @Override
    public void close() {
        List.copyOf(kept).forEach(OnnxKept::close);
        try {
            for (var session : sessions) {
                session.close();
            }
        } catch (OrtException e) {
            throw OnnxFailure.of(e);
        } finally {
            sessions.clear();
            options.forEach(OrtSession.SessionOptions::close);
            options.clear();
            weights.close();
        }
    }
}
