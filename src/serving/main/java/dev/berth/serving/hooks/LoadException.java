package dev.berth.serving.hooks;

import dev.berth.artifact.code.Thrown;
import dev.berth.artifact.code.ThrownByHook;
import java.time.Duration;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A hook has failed while its model was loaded. The message names the hook; the cause is what it
/// threw, if it did.
public final class LoadException extends Exception {

    /// How often to say that a hook still runs. Loading has no deadline, because a large model may
    /// take minutes.
    private static final Duration LONG = Duration.ofMinutes(1);

    private static final Logger log = LoggerFactory.getLogger(LoadException.class);

    private LoadException(String message, Throwable cause) {
        super(message, cause);
    }

    /// A hook has returned what it must not.
    public LoadException(String message) {
        this(message, null);
    }

    /// Runs a hook that a model can't be loaded without.
    public static <T> T during(String hook, Callable<T> call) throws LoadException {
        return during(hook, LONG, call);
    }

    public static <T> T during(String hook, Duration patience, Callable<T> call) throws LoadException {
        var thread = Thread.currentThread();
        var watch = Thread.ofVirtual().name("berth-load-watch").start(() -> watch(hook, patience, thread));
        try {
            return call.call();
        } catch (LoadException named) {
            throw named;
        } catch (Throwable e) {
            var told = ThrownByHook.ask(e);
            throw new LoadException("%s failed%s".formatted(hook, Thrown.at(told)), told);
        } finally {
            watch.interrupt();
        }
    }

    private static void watch(String hook, Duration patience, Thread thread) {
        try {
            for (var since = patience; ; since = since.plus(patience)) {
                Thread.sleep(patience);
                var stack = new Throwable();
                stack.setStackTrace(thread.getStackTrace());
                log.warn(
                        "{} still runs after {} s{}; /ping is 503 until it ends, and SageMaker gives up after "
                                + "ContainerStartupHealthCheckTimeoutInSeconds",
                        hook,
                        since.toSeconds(),
                        Thrown.place(stack));
            }
        } catch (InterruptedException _) {
            // It has ended.
        }
    }
}
