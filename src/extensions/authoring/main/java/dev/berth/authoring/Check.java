package dev.berth.authoring;

import dev.berth.artifact.code.HookCode;
import dev.berth.batching.BatchLimits;
import dev.berth.command.Deployment;
import dev.berth.command.SampleRequest;
import dev.berth.command.StartException;
import dev.berth.config.HttpConfig;
import dev.berth.config.ModelConfig;
import dev.berth.config.ServerConfig;
import dev.berth.config.ServingConfig;
import dev.berth.engine.Graph;
import dev.berth.engine.Machine;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.Metrics;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.TransformHandler;
import dev.berth.serving.hooks.HookPredictor;
import dev.berth.serving.hooks.Hooks;
import java.text.DecimalFormat;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Loads a model artifact on every device as the server does, asks it its sample as the server
/// would be asked, and measures it. Hooks run one after another on a thread that is left behind
/// when one of them does not end.
public final class Check {

    /// Enough for a median.
    private static final int MOST_RUNS = 50;

    private static final int LEAST_RUNS = 3;
    private static final long LONG_ENOUGH_NANOS = 1_000_000_000;

    /// A slow model is not measured at every size.
    private static final long TOO_LONG_NANOS = 10_000_000_000L;

    private static final int MOST_RECORDS = 1024;

    /// Twice the records are worth their longer wait only if they come out clearly faster.
    private static final double CLEARLY_FASTER = 1.05;

    /// How long a hook may go on after it was interrupted.
    private static final int LAST_HOOK_SECONDS = 1;

    private record Speed(int batch, double milliseconds) {
        double recordsPerSecond() {
            return batch * 1000 / milliseconds;
        }
    }

    private final ServerConfig config;
    private final Deployment deployment;
    private final ExecutorService hooks = Executors.newSingleThreadExecutor(
            Thread.ofPlatform().name("berth-worker-1").daemon().factory());

    /// What it has found, by name.
    private final Map<String, String> report = new LinkedHashMap<>();

    private Check(ServerConfig config, Deployment deployment) {
        this.config = config;
        this.deployment = deployment;
    }

    /// @return the report, line by line
    /// @throws StartException with every problem that was found
    public static List<String> run(ServerConfig config) throws StartException {
        try {
            var check = new Check(config, Deployment.plan(config, Machine.current()));
            var handler = check.deployment.hooks().handler();
            try {
                return check.report(handler);
            } finally {
                // A hook that does not end still uses what this would close.
                check.hooks.shutdownNow();
                if (check.hooks.awaitTermination(LAST_HOOK_SECONDS, TimeUnit.SECONDS)) {
                    HookCode.close(handler);
                }
            }
        } catch (Exception e) {
            throw StartException.of(e);
        }
    }

    private <M, I, O> List<String> report(InferenceHandler<M, I, O> handler) throws Exception {
        long start = System.nanoTime();
        var directory = deployment.directory();
        var accelerators = deployment.workers().stream().distinct().toList();
        var models = new ArrayList<HookPredictor<M, I, O>>();
        for (int worker = 0; worker < accelerators.size(); worker++) {
            var context = new ModelContext(
                    directory,
                    accelerators.get(worker),
                    worker,
                    accelerators,
                    deployment.limits().mostRecords(),
                    Metrics.NONE);
            // Like the server, it waits for as long as a model takes to load.
            models.add(hooks.submit(() -> HookPredictor.load(new Hooks<>(handler, Metrics.current()), context))
                    .get());
        }
        double loaded = (System.nanoTime() - start) / 1e9;

        report.put("artifact", config.get(ModelConfig.MODEL_DIR).toString());
        report.putAll(deployment.hooks().description());
        var devices = accelerators.stream().map(Object::toString).collect(Collectors.joining(", "));
        say("device", devices + "; " + deployment.devices().origin());
        int workers = deployment.workers().size();
        int most = deployment.limits().maxBatchSize();
        say("workers", "%d, each on batches of up to %d".formatted(workers, most));
        var copies = models.size() == 1 ? "1 copy" : models.size() + " copies";
        say("load", "%.1f s for %s, warm-up included".formatted(loaded, copies));
        var sample = SampleRequest.in(directory, models.getFirst().hooks.requestTypes());
        if (sample.isPresent()) {
            trySample(sample.get(), models.getFirst());
        } else {
            say("sample", "none: put a request into sample.json, and it is tried and measured here");
        }
        if (models.getFirst().model instanceof Graph graph) {
            say("names", "inputs %s; outputs %s".formatted(names(graph.inputNames()), names(graph.outputNames())));
        }
        if (handler instanceof TensorHandler tensors) {
            say("a forward", tensors.forwards());
        }
        return report.entrySet().stream()
                .map(line -> "%-12s%s".formatted(line.getKey(), line.getValue()))
                .toList();
    }

    private void say(String name, String says) {
        report.put(name, says);
    }

    /// For `model.json`. Some outputs have names only once the sample has been tried.
    private static String names(List<String> names) {
        return names.isEmpty() ? "unknown" : String.join(", ", names);
    }

    private <M, I, O> void trySample(SampleRequest sample, HookPredictor<M, I, O> model) throws Exception {
        var answer = within(model, sample, () -> sample.ask(model, config));
        var accept = sample.accept(model, config);
        say(
                "asked as",
                "POST /invocations with Content-Type %s and %s, within %s s; answered as %s"
                        .formatted(
                                sample.type(model.hooks.requestTypes()),
                                accept.equals(config.get(HttpConfig.DEFAULT_ACCEPT)) ? "no Accept" : "Accept " + accept,
                                seconds(config.get(ServingConfig.TIMEOUT)),
                                answer.response().contentType()));
        boolean checked = within(model, sample, () -> sample.check(model, answer));
        say(
                "sample",
                SampleRequest.shown(answer.response()) + (checked ? " (checked against sample-response.json)" : ""));
        // The record of a TransformHandler is a whole request, whose body can be read once.
        if (!(model.hooks.handler instanceof TransformHandler<?>)
                && !answer.records().isEmpty()) {
            measure(sample, model, answer.records().getFirst());
        }
    }

    private <M, I, O> void measure(SampleRequest sample, HookPredictor<M, I, O> model, I record) throws Exception {
        var handler = model.hooks.handler;
        // A block of rows is cut as the server does.
        var piece = handler.count(record) > 1 ? handler.split(record).getFirst() : record;
        int size = handler.count(piece);
        var best = within(model, sample, () -> measure(model, piece, size, 1));
        say("batch of " + size, shown(best));
        long begin = System.nanoTime();
        for (int batch : batches(deployment.limits(), Math.max(1, handler.length(piece)), size)) {
            if (System.nanoTime() - begin > TOO_LONG_NANOS) {
                break;
            }
            var speed = within(model, sample, () -> measure(model, piece, size, batch));
            best = speed.recordsPerSecond() > best.recordsPerSecond() * CLEARLY_FASTER ? speed : best;
        }
        say("best batch", best.batch == 1 ? "1" : "%d: %s".formatted(best.batch, shown(best)));
        say(
                "differs",
                "unlike in serve, hooks ran on one thread, one request at a time; batches were copies of one record");
    }

    /// Runs hooks for as long as a request may take.
    private <T> T within(HookPredictor<?, ?, ?> model, SampleRequest sample, Callable<T> call) throws Exception {
        var timeout = config.get(ServingConfig.TIMEOUT);
        var running = hooks.submit(call);
        try {
            return running.get(timeout.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException _) {
            running.cancel(true);
            throw new StartException(
                    "%s: found no answer within %s s while %s ran, expected one; serve answers 504 then (--timeout)"
                            .formatted(sample.name(), seconds(timeout), model.hook()));
        } catch (ExecutionException e) {
            throw e.getCause() instanceof Exception cause ? cause : e;
        }
    }

    private static String seconds(Duration time) {
        return new DecimalFormat("0.###").format(time.toNanos() / 1e9);
    }

    /// The batch sizes above 1 that are worth a try: the powers of two, and the largest that the
    /// server forms.
    ///
    /// @param size how many records each is
    static List<Integer> batches(BatchLimits limits, int length, int size) {
        int largest = Math.min(MOST_RECORDS, Math.min(limits.maxBatchSize(), limits.maxBatchTokens() / length) / size);
        return IntStream.concat(
                        IntStream.iterate(2, batch -> batch < largest, batch -> batch * 2), IntStream.of(largest))
                .filter(batch -> batch > 1)
                .boxed()
                .toList();
    }

    /// The median time of `predictFn`.
    ///
    /// @param size how many records the record is
    private static <M, I, O> Speed measure(HookPredictor<M, I, O> model, I record, int size, int batch) {
        var records = Collections.nCopies(batch, record);
        var times = new ArrayList<Long>();
        long begin = System.nanoTime();
        while (times.size() < LEAST_RUNS
                || (times.size() < MOST_RUNS && System.nanoTime() - begin < LONG_ENOUGH_NANOS)) {
            long start = System.nanoTime();
            model.ask(records);
            times.add(System.nanoTime() - start);
        }
        Collections.sort(times);
        return new Speed(batch * size, times.get(times.size() / 2) / 1e6);
    }

    private static String shown(Speed speed) {
        return "%.1f ms, %.0f records/s of one worker while the others are idle"
                .formatted(speed.milliseconds, speed.recordsPerSecond());
    }
}
