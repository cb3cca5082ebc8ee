package dev.berth.serving.many;

import static dev.berth.testing.Interleavings.explore;
import static dev.berth.testing.Interleavings.together;
import static dev.berth.testing.Interleavings.until;
import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.batching.BatchLimits;
import dev.berth.batching.Caller;
import dev.berth.batching.ThreadPriority;
import dev.berth.batching.WorkerPool;
import dev.berth.error.ErrorType;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.CpuProfile;
import dev.berth.hooks.ModelContext;
import dev.berth.memory.Footprint;
import dev.berth.memory.RequestMemory;
import dev.berth.memory.RequestMemory.ProcessMemory;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Call;
import dev.berth.serving.Dialect;
import dev.berth.serving.ModelPlan;
import dev.berth.serving.ServedAnswer;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.hooks.FirstRequest;
import dev.berth.serving.hooks.HookThreads;
import dev.berth.serving.sessions.SessionRoom;
import dev.berth.telemetry.RequestTrace;
import dev.berth.testing.Interleavings;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Models of a directory that are asked, swapped, unloaded and make way for each other at once.
class ModelDirectorySchedules {

    private static final Duration LONG = Duration.ofHours(1);
    private static final ServingMetrics METRICS = new ServingMetrics();

    static {
        // Two thirds of all steps would make series of models and remove them.
        METRICS.keepModels();
    }

    @TempDir
    Path root;

    /// The first call sets up the JDK's linker. Other threads would wait for that unseen by the scheduler.
    @BeforeAll
    static void lowerAPriority() throws InterruptedException {
        Thread.ofPlatform().start(ThreadPriority::lower).join();
    }

    @BeforeEach
    void write() throws IOException {
        for (var name : List.of("m", "n")) {
            Files.createDirectory(root.resolve(name));
            Files.writeString(root.resolve(name).resolve("file"), name);
        }
    }

    @Test
    void whoeverAsksIsAnsweredWhileTheModelIsSwappedAndUnloaded() throws Exception {
        explore(() -> {
            try (var models = new Models(root, 2)) {
                models.ask("m");
                together(
                        () -> models.ask("m"),
                        () -> models.change("m"),
                        orRefused(() -> models.served.unload("m")),
                        orRefused(() -> models.served.unload("m")));
                models.ask("m");
                models.stop();
            }
        });
    }

    @Test
    void oneModelAtATimeFitsAndEachIsAnsweredAgain() throws Exception {
        explore(() -> {
            try (var models = new Models(root, 1)) {
                together(
                        orRefused(() -> models.ask("m")),
                        orRefused(() -> models.ask("n")),
                        orRefused(() -> models.ask("m")));
                models.ask("n");
                models.ask("m");
                models.stop();
            }
        });
    }

    private static Interleavings.Body orRefused(Interleavings.Body request) {
        return Interleavings.orRefused(request, ErrorType.NOT_FOUND, ErrorType.INSUFFICIENT_MEMORY);
    }

    private static final class Models implements AutoCloseable {
        private static final List<Accelerator> CPU = List.of(new Accelerator.Cpu(1, CpuProfile.ADAPTIVE));

        /// What a model takes, far more than the heap's size changes by.
        private static final long MODEL = 1L << 30;

        final ModelDirectory directory;
        final ManyModels served;
        private final HookThreads hooks = HookThreads.ofSeveralModels();
        private final WorkerPool workers = new WorkerPool(CPU);
        private final int room;
        private final Path root;

        /// Models that are loaded, in memory.
        private final AtomicInteger loaded = new AtomicInteger();

        /// @param room how many models fit
        Models(Path root, int room) throws InterruptedException {
            this.root = root;
            this.room = room;
            var loader = new ModelRoom(
                    this::load,
                    new ModelRoom.Store(Optional::empty, _ -> new Footprint(MODEL, 0)),
                    List.of(),
                    Optional.of(room * MODEL + MODEL / 2));
            var store = new ModelStore(hooks, METRICS, loader, LONG, Duration.ofSeconds(10));
            directory = new ModelDirectory(root, false, store, false, LONG);
            served = directory.models();
            directory.look(true);
        }

        private void load(ServedModel model, Path artifact, Optional<ModelStore> others) throws Exception {
            model.load(new ModelPlan<>(
                    artifact,
                    new Handler(),
                    workers,
                    new BatchLimits(2, 100, Duration.ZERO, 8, Duration.ZERO),
                    FirstRequest.NONE,
                    new SessionRoom(1, 1)));
        }

        private final class Handler extends TextHandler {
            private final class Model implements AutoCloseable {
                private volatile boolean closed;

                @Override
                public void close() {
                    assertThat(closed).isFalse();
                    closed = true;
                    loaded.decrementAndGet();
                }
            }

            @Override
            public Object modelFn(ModelContext context) {
                assertThat(loaded.incrementAndGet()).isLessThanOrEqualTo(room);
                return new Model();
            }

            @Override
            public List<String> predictFn(List<String> records, Object model) throws Exception {
                assertThat(((Model) model).closed).isFalse();
                return super.predictFn(records, model);
            }
        }

        void ask(String name) throws Exception {
            var deadline = Deadline.in(LONG, Interleavings::now);
            try (var visit = served.enter(name, deadline);
                    var memory = new RequestMemory(ProcessMemory.ofThisProcess(), deadline.nanos(), () -> {})) {
                var caller = new Caller(() -> false, Map.of(), RequestTrace.NONE);
                var call = new Call(deadline, memory, caller, Optional.empty(), Dialect.NONE);
                var answer = visit.invoke(Interleavings.request("a"), call);
                assertThat(answer)
                        .isInstanceOfSatisfying(
                                ServedAnswer.Whole.class,
                                whole -> assertThat(whole.response().body())
                                        .asString()
                                        .isEqualTo("A"));
            }
        }

        /// Somebody changes the file, and the thread that looks sees it.
        void change(String name) throws IOException {
            var file = root.resolve(name).resolve("file");
            var time = Files.getLastModifiedTime(file).toMillis();
            Files.setLastModifiedTime(file, FileTime.fromMillis(time + 1));
            directory.look(false);
            directory.look(false);
        }

        void stop() throws Exception {
            until(() -> served.all().size() <= 1);
            directory.close();
            served.close(LONG);
            until(() -> loaded.get() == 0);
        }

        @Override
        public void close() {}
    }
}
