package dev.berth.error;

import java.util.Arrays;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// What the log has of an exception that was thrown while a request was handled: the classes, the
/// stacks and the causes, without the messages. Messages of hooks and libraries hold what they
/// could not read, and the log never holds payloads. The caller gets the message. At the level
/// DEBUG the log has all of it.
/// Messages of the JVM's own errors stay: they name classes and kinds of memory. A stack ends with
/// the artifact's own code, because the server's frames below it are always the same.
public final class Unsaid extends RuntimeException {

    private static final Logger log = LoggerFactory.getLogger(Unsaid.class);

    /// The class loader of an artifact's code, as stacks name it.
    public static final String HOOKS = "code";

    /// Causes may go on for ever.
    private static final int MOST = 20;

    private final String type;

    private Unsaid(Throwable thrown, int most) {
        super(null, thrown.getCause() == null || most == 0 ? null : of(thrown.getCause(), most - 1));
        this.type = type(thrown);
        setStackTrace(upToHooks(thrown.getStackTrace()));
        if (most > 0) {
            for (var other : thrown.getSuppressed()) {
                addSuppressed(of(other, most - 1));
            }
        }
    }

    /// The exception as the log may have it.
    public static Throwable of(Throwable thrown) {
        return log.isDebugEnabled() ? thrown : of(thrown, MOST);
    }

    /// Whether it is in an artifact's own code.
    public static boolean isOfHooks(StackTraceElement frame) {
        return HOOKS.equals(frame.getClassLoaderName());
    }

    /// Without what called the artifact's code.
    private static StackTraceElement[] upToHooks(StackTraceElement[] stack) {
        int end = stack.length;
        while (end > 0 && !isOfHooks(stack[end - 1])) {
            end--;
        }
        return end == 0 ? stack : Arrays.copyOf(stack, end);
    }

    private static Throwable of(Throwable thrown, int most) {
        return new Unsaid(thrown, most);
    }

    private static String type(Throwable thrown) {
        var said = thrown.toString();
        if (thrown.getMessage() == null
                || thrown instanceof VirtualMachineError
                || thrown instanceof LinkageError
                || thrown instanceof ReflectiveOperationException) {
            return said;
        }
        // Some classes say the name of another one.
        var message = ": " + thrown.getMessage();
        return (said.endsWith(message)
                        ? said.substring(0, said.length() - message.length())
                        : thrown.getClass().getName())
                + " (--log-level debug shows its message)";
    }

    @Override
    @SuppressWarnings("OverrideThrowableToString") // It says the name of another class.
    public String toString() {
        return type;
    }
}
