package dev.berth.testing;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.io.ByteArrayInputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Random;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.BooleanSupplier;
import java.util.stream.Stream;
import kotlin.Unit;
import org.pastalab.fray.core.TestRunner;
import org.pastalab.fray.core.ThreadContext;
import org.pastalab.fray.core.command.Configuration;
import org.pastalab.fray.core.command.ExecutionInfo;
import org.pastalab.fray.core.command.LambdaExecutor;
import org.pastalab.fray.core.command.NetworkDelegateType;
import org.pastalab.fray.core.command.SystemTimeDelegateType;
import org.pastalab.fray.core.randomness.ControlledRandom;
import org.pastalab.fray.core.randomness.Randomness;
import org.pastalab.fray.core.scheduler.PCTScheduler;
import org.pastalab.fray.core.scheduler.POSScheduler;
import org.pastalab.fray.core.scheduler.Scheduler;
import org.slf4j.LoggerFactory;

/// Runs a test again and again on Fray, a scheduler that has one thread at a time go on, and
/// chooses at each lock, wait, atomic or volatile variable which one. A number, the seed, makes all
/// choices of a run, so the same seed finds the same again.
///
/// Time is Fray's too: 0.1 ms a step, and where all threads wait it jumps to the end of the first
/// wait. Who waits for what never comes is found as a deadlock, or by [#together] and [#until].
/// `System::nanoTime` as a method reference is the machine's time, [#now] is Fray's.
public final class Interleavings {

    /// A test. It makes all that it uses, and ends all threads that it begins.
    public interface Body {
        void run() throws Exception;
    }

    /// More than any run needs that ends.
    private static final int MOST_STEPS = 200_000;

    private static final int FIRST_RUNS = 20;

    private static final Duration SECOND = Duration.ofSeconds(1);

    private static final long NANOS_A_STEP = 100_000;

    /// Longer than anything that is waited for on purpose.
    private static final Duration LONG = Duration.ofMinutes(1);

    private Interleavings() {}

    /// Runs a test for `schedules.seconds`, or once with `schedules.seed`.
    public static void explore(Body body) throws InterruptedException {
        var seconds = Integer.getInteger("schedules.seconds");
        assumeTrue(seconds != null, "needs Fray: tools/reliability/run schedules");
        var test = StackWalker.getInstance()
                .walk(frames -> frames.skip(1).findFirst())
                .orElseThrow();
        ((Logger) LoggerFactory.getLogger(org.slf4j.Logger.ROOT_LOGGER_NAME)).setLevel(Level.OFF);
        // These make classes and lambdas ready, which takes steps that later runs do not have.
        run(body, 0, FIRST_RUNS, Integer.MAX_VALUE);
        var seed = Optional.ofNullable(Long.getLong("schedules.seed"));
        int runs = run(body, seed.orElse((long) FIRST_RUNS), seed.isPresent() ? 1 : Integer.MAX_VALUE, seconds);
        System.out.printf("schedules: %s.%s: %d runs%n", test.getClassName(), test.getMethodName(), runs);
    }

    /// Runs all at the same time, on a thread each, until all have ended.
    public static void together(Body... bodies) throws InterruptedException {
        long start = now();
        var threads = Stream.of(bodies)
                .map(body -> Thread.ofPlatform().start(() -> run(body)))
                .toList();
        for (var thread : threads) {
            thread.join();
        }
        requireInTime(start);
    }

    /// What may be refused for these reasons.
    public static Body orRefused(Body request, ErrorType... reasons) {
        return () -> {
            try {
                request.run();
            } catch (ServingException e) {
                assertThat(List.of(reasons)).as(e.getMessage()).contains(e.type());
            }
        };
    }

    /// Waits until something holds.
    public static void until(BooleanSupplier condition) throws InterruptedException {
        long start = now();
        while (!condition.getAsBoolean()) {
            requireInTime(start);
            Thread.sleep(10);
        }
    }

    /// A request with a text.
    public static InvocationRequest request(String text) {
        var body = new ByteArrayInputStream(text.getBytes(UTF_8));
        return new InvocationRequest(body, MediaType.TEXT, MediaType.TEXT, Optional.empty(), "id", false);
    }

    /// As [System#nanoTime()] counts.
    public static long now() {
        return System.nanoTime();
    }

    private static void requireInTime(long start) {
        if (now() - start > LONG.toNanos()) {
            throw new AssertionError("waited for what did not come");
        }
    }

    private static void run(Body body) {
        try {
            body.run();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }

    /// How many runs there were. One that hangs is given up, as is one that has failed and waits for
    /// threads that Fray has ended.
    private static int run(Body body, long firstSeed, int runs, int seconds) throws InterruptedException {
        var config = new Configuration(
                new ExecutionInfo(
                        new LambdaExecutor(() -> {
                            run(body);
                            return Unit.INSTANCE;
                        }),
                        /* ignoreUnhandledExceptions= */ false,
                        /* interleaveMemoryOps= */ false,
                        /* maxScheduledStep= */ -1),
                Path.of(System.getProperty("schedules.report")),
                runs,
                seconds,
                new Seeded(firstSeed),
                ControlledRandom::new,
                /* fullSchedule= */ false,
                /* exploreMode= */ false,
                /* noExitWhenBugFound= */ true,
                /* isReplay= */ false,
                /* noFray= */ false,
                /* dummyRun= */ false,
                NetworkDelegateType.NONE,
                SystemTimeDelegateType.MOCK,
                NANOS_A_STEP,
                /* ignoreTimedBlock= */ false,
                /* sleepAsYield= */ false,
                /* resetClassLoader= */ false,
                /* redirectStdout= */ false,
                /* abortThreadExecutionAfterMainExit= */ false,
                /* resolveRacingOperationStackTraceHash= */ false,
                /* timelineCoverageType= */ null);
        var found = new AtomicReference<Throwable>();
        var runner = Thread.ofPlatform().daemon().start(() -> found.set(new TestRunner(config).run()));
        var recording = config.getReport().resolve("recording");
        int run = 0;
        for (int still = 0; !runner.join(SECOND) && still < (Files.exists(recording) ? 10 : 300); ) {
            still = run == config.getCurrentIteration() ? still + 1 : 0;
            run = config.getCurrentIteration();
        }
        if (runner.isAlive() || Files.exists(recording)) {
            throw new AssertionError(
                    "in run %d: tools/reliability/run schedules --seed %d finds it again"
                            .formatted(run + 1, ((Seeded) config.getScheduler()).seed),
                    found.get());
        }
        return run;
    }

    /// Two schedulers of Fray's in turn: POS tries the orders of steps that meet, PCT also has a
    /// thread come late.
    private static final class Seeded extends Scheduler {
        private static final int LATE = 3;
        private static final int WITHIN_STEPS = 2_000;

        /// A thread that spins, as those of `ConcurrentHashMap` do, waits for another one.
        private static final int MOST_IN_A_ROW = 500;

        private final long seed;
        private final Scheduler scheduler;
        private ThreadContext last;
        private int inARow;
        private int steps;

        Seeded(long seed) {
            this(seed, new ControlledRandom(new ArrayList<>(), new ArrayList<>(), new Random(seed)));
        }

        private Seeded(long seed, Randomness random) {
            super(random);
            this.seed = seed;
            this.scheduler = seed % 2 == 0 ? new POSScheduler(random) : new PCTScheduler(random, LATE, WITHIN_STEPS);
        }

        @Override
        public ThreadContext scheduleNextOperation(List<ThreadContext> threads, Collection<ThreadContext> all) {
            if (++steps > MOST_STEPS) {
                throw new IllegalStateException("found a run of more than %d steps".formatted(MOST_STEPS));
            }
            var next = scheduler.scheduleNextOperation(threads, all);
            inARow = next == last && threads.size() > 1 ? inARow + 1 : 0;
            last = inARow < MOST_IN_A_ROW ? next : threads.get(nextInt() % threads.size());
            return last;
        }

        @Override
        public Scheduler nextIteration(Randomness ignored) {
            return new Seeded(seed + 1);
        }
    }
}
