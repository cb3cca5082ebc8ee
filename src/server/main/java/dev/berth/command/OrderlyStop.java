package dev.berth.command;

import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.ValueLayout;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Ends the process when it is told to, by SIGTERM, SIGINT or SIGHUP: closes the server and ends
/// with 0, where the JVM alone would end with 143. A platform then sees a container that stopped as
/// it was asked to.
///
/// Two threads, made before they are needed: a process that must be replaced may have no memory for
/// new ones. The JVM starts `berth-stop`, its shutdown hook. `berth-stop-watch` waits for that, and
/// ends the process with [#FORCED] when the stop takes longer than it may.
public final class OrderlyStop {

    /// The exit code when the stop did not end in time.
    static final int FORCED = 3;

    /// To say where the stop hangs.
    private static final Duration LAST_WORDS = Duration.ofSeconds(1);

    private final Thread stop = Thread.ofPlatform().name("berth-stop").unstarted(this::stop);
    private final CountDownLatch begun = new CountDownLatch(1);
    private volatile AutoCloseable server = () -> {};

    private OrderlyStop() {}

    /// From now on a signal ends the process with 0.
    public static OrderlyStop onSignals() {
        var stop = new OrderlyStop();
        Runtime.getRuntime().addShutdownHook(stop.stop);
        return stop;
    }

    /// Lets the process end with a code of its own. False: it has been told to stop already, and
    /// will.
    public boolean withdraw() {
        try {
            return Runtime.getRuntime().removeShutdownHook(stop);
        } catch (IllegalStateException e) {
            return false;
        }
    }

    /// Says what a signal closes from now on.
    ///
    /// @param limit the longest that this may take; more than [#LAST_WORDS]
    void closes(AutoCloseable opened, Duration limit) {
        server = opened;
        // Another thread says it, because what keeps the stop may keep the one that watches too.
        var lastWords = Thread.ofPlatform().name("berth-stop-forced").daemon().unstarted(() -> sayWhereItHangs(limit));
        Thread.ofPlatform().name("berth-stop-watch").daemon().start(() -> watch(limit, lastWords));
    }

    /// Whether a signal has come.
    boolean hasBegun() {
        return begun.getCount() == 0;
    }

    /// Ends the process at once: an exit would tear libtorch down, which another thread may still be
    /// loading or using.
    static int end(int code) {
        try {
            Logging.flush();
            if (code != 0) {
                leave(code);
            }
        } catch (Throwable _) {
            // The process ends all the same.
        } finally {
            // Also where the log is still being loaded.
            Runtime.getRuntime().halt(code);
        }
        return code;
    }

    /// Java's own halt calls C's exit, which runs the destructors of libtorch: a thread that loads a
    /// model crashes in them, and the process ends with 134.
    @SuppressWarnings("restricted") // The launcher allows native access.
    private static void leave(int code) throws Throwable {
        var linker = Linker.nativeLinker();
        linker.downcallHandle(
                        linker.defaultLookup().findOrThrow("_exit"), FunctionDescriptor.ofVoid(ValueLayout.JAVA_INT))
                .invokeExact(code);
    }

    private void stop() {
        begun.countDown();
        try {
            server.close();
        } catch (Exception | Error e) {
            log().error("the server did not stop cleanly", e);
        }
        end(0);
    }

    private void watch(Duration limit, Thread lastWords) {
        awaitBegin();
        try {
            Thread.sleep(limit.minus(LAST_WORDS));
        } catch (InterruptedException _) {
            // The process ends all the same.
        }
        force(lastWords);
    }

    /// Ends the process with [#FORCED].
    ///
    /// @param lastWords says why, within a second. It is made before it is needed
    static int force(Thread lastWords) {
        try {
            lastWords.start();
            lastWords.join(LAST_WORDS);
        } catch (InterruptedException | Error _) {
            // The process ends all the same.
        } finally {
            Runtime.getRuntime().halt(FORCED);
        }
        return FORCED;
    }

    private void awaitBegin() {
        while (!hasBegun()) {
            try {
                begun.await();
            } catch (InterruptedException _) {
                // Hooks may interrupt any thread. Only a signal begins the stop.
            }
        }
    }

    private void sayWhereItHangs(Duration limit) {
        var place = new Throwable("it is here");
        place.setStackTrace(stop.getStackTrace());
        log().error("the server did not stop within {} s; the process ends with {}", limit.toSeconds(), FORCED, place);
        Logging.flush();
    }

    /// Not a constant: the log takes a tenth of a second to load, and until then a signal would end
    /// the process with 143.
    private static Logger log() {
        return LoggerFactory.getLogger(OrderlyStop.class);
    }
}
