package dev.berth.inprocess;

import dev.berth.batching.Caller;
import dev.berth.batching.WorkerPool;
import dev.berth.command.Deployment;
import dev.berth.command.StartException;
import dev.berth.config.Configuration;
import dev.berth.config.ServerConfig;
import dev.berth.config.ServingConfig;
import dev.berth.engine.Machine;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.Routes;
import dev.berth.memory.RequestMemory;
import dev.berth.memory.RequestMemory.ProcessMemory;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Call;
import dev.berth.serving.Dialect;
import dev.berth.serving.ServedAnswer;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.HookPool;
import dev.berth.serving.hooks.HookThreads;
import dev.berth.serving.many.Served;
import dev.berth.telemetry.RequestTrace;
import java.io.ByteArrayInputStream;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/// The model of an artifact for callers in this process, such as the tasks of a Spark executor: the
/// queue, the workers and the hooks of a server, without a listener. Used by any number of threads.
public final class InProcessModel implements AutoCloseable {

    private static final Duration DRAIN = Duration.ofSeconds(1);

    private final Duration timeout;
    private final ServingMetrics metrics = new ServingMetrics();
    private final ServedModel model = new ServedModel(Served.NAME, HookThreads.ofOneModel(), metrics);
    private final ProcessMemory memory = ProcessMemory.ofThisProcess();
    private final Deployment deployment;
    private final WorkerPool workers;

    private InProcessModel(ServerConfig config, int cores) throws Exception {
        timeout = config.get(ServingConfig.TIMEOUT);
        try {
            deployment = Deployment.plan(config, Machine.current().withProcessors(cores));
            workers = new WorkerPool(deployment.workers());
            deployment.load(model, workers, Deployment.sessions(config));
        } catch (Throwable e) {
            close();
            throw e;
        }
    }

    /// Loads an artifact with the settings of the environment.
    ///
    /// @param home the directory of the `serve` script
    /// @throws StartException with every problem, each on a line
    public static InProcessModel load(Path artifact, Map<String, String> environment, Path home) throws StartException {
        var flags = Map.of("--model-dir", artifact.toString());
        return load(
                Configuration.read(environment, flags, home, Routes::has).config(),
                Runtime.getRuntime().availableProcessors());
    }

    /// Loads the artifact on every worker, asks it its sample and warms it up, as a server does
    /// before it is ready.
    ///
    /// @param cores the most that the model may use of the CPU
    /// @throws StartException with every problem, each on a line
    public static InProcessModel load(ServerConfig config, int cores) throws StartException {
        try {
            return new InProcessModel(config, cores);
        } catch (Throwable e) {
            throw StartException.of(e);
        }
    }

    /// The most records that `predictFn` gets at once.
    public int batchSize() {
        return deployment.limits().mostRecords();
    }

    /// The content types that the hooks read; empty: any.
    public List<MediaType> requestTypes() {
        try (var visit = model.enter()) {
            return visit.facts().requestTypes();
        }
    }

    /// The content types that the hooks write; empty: any.
    public List<MediaType> responseTypes() {
        try (var visit = model.enter()) {
            return visit.facts().responseTypes();
        }
    }

    /// Answers a request. The calling thread waits for hooks and workers.
    ///
    /// @throws ServingException as the caller of a server would get it
    public InvocationResponse invoke(MediaType contentType, byte[] body, MediaType accept) {
        var deadline = Deadline.in(timeout, System::nanoTime);
        var bytes = new ByteArrayInputStream(body);
        var request = new InvocationRequest(bytes, contentType, accept, Optional.empty(), "in-process", false)
                .withDeadline(deadline.nanos());
        try (var visit = model.enter();
                var taken = new RequestMemory(memory, deadline.nanos(), HookPool::leavePlace)) {
            var caller = new Caller(() -> false, Map.of(), RequestTrace.NONE);
            // Without limits of streams every answer is whole.
            var answer = visit.invoke(request, new Call(deadline, taken, caller, Optional.empty(), Dialect.NONE));
            return ((ServedAnswer.Whole) answer).response();
        }
    }

    /// Ends requests that are inside and frees the model.
    @Override
    public void close() throws Exception {
        try (metrics) {
            model.close(DRAIN);
        }
    }
}
