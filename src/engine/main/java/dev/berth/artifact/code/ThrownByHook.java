package dev.berth.artifact.code;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.HookException;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.hooks.NotAcceptableException;
import dev.berth.hooks.UnsupportedMediaTypeException;
import java.util.Arrays;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/// What an exception of an artifact's own code said when it was asked, once.
///
/// Its methods may block or never end, its causes go on for ever, its message fill the heap. So it
/// is asked on the thread that ran the hook, for which the deadline is kept. What goes on from
/// there, to the caller and the log, is harmless.
public final class ThrownByHook extends RuntimeException {

    /// With causes and what was suppressed.
    private static final int MOST = 20;

    /// Far more than a caller is told, and enough for the log.
    private static final int LONGEST_MESSAGE = 10_000;

    private final String type;

    private ThrownByHook(String type, String message, Throwable cause) {
        super(message, cause);
        this.type = type;
    }

    /// Asks an exception. One that is harmless stays what it is, and those that hooks throw for their
    /// callers keep their type.
    public static Throwable ask(Throwable thrown) {
        return ask(thrown, new AtomicInteger(MOST));
    }

    /// @param left how many more may be asked
    private static Throwable ask(Throwable thrown, AtomicInteger left) {
        if (thrown == null || left.getAndDecrement() <= 0) {
            return null;
        }
        if (isHarmless(thrown, new AtomicInteger(MOST))) {
            return thrown;
        }
        String message = null;
        Throwable cause = null;
        var stack = new StackTraceElement[0];
        try {
            stack = thrown.getStackTrace();
            message = thrown.getMessage();
            cause = ask(thrown.getCause(), left);
        } catch (Throwable _) {
            // What it has said by now is all.
        }
        if (message != null && message.length() > LONGEST_MESSAGE) {
            message = message.substring(0, LONGEST_MESSAGE - 1) + "…";
        }
        var copy = copy(thrown, message, cause);
        copy.setStackTrace(stack);
        Arrays.stream(thrown.getSuppressed())
                .map(other -> ask(other, left))
                .filter(Objects::nonNull)
                .forEach(copy::addSuppressed);
        return copy;
    }

    /// Whether it and all that it holds are of the server's classes, few, and with short messages.
    private static boolean isHarmless(Throwable thrown, AtomicInteger left) {
        return thrown == null
                || (left.getAndDecrement() > 0
                        && isOfTheServer(thrown.getClass().getClassLoader())
                        && Objects.requireNonNullElse(thrown.getMessage(), "").length() <= LONGEST_MESSAGE
                        && isHarmless(thrown.getCause(), left)
                        && Arrays.stream(thrown.getSuppressed()).allMatch(other -> isHarmless(other, left)));
    }

    private static boolean isOfTheServer(ClassLoader loader) {
        return loader == null
                || loader.equals(ClassLoader.getPlatformClassLoader())
                || loader.equals(ThrownByHook.class.getClassLoader());
    }

    private static Throwable copy(Throwable thrown, String message, Throwable cause) {
        return switch (thrown) {
            case HookException chosen ->
                switch (chosen) {
                    case BadInputException _ -> new BadInputException(message, cause);
                    case UnsupportedMediaTypeException _ -> new UnsupportedMediaTypeException(message, cause);
                    case NotAcceptableException _ -> new NotAcceptableException(message, cause);
                    case InsufficientMemoryException _ -> new InsufficientMemoryException(message, cause);
                    case ModelUnusableException _ -> new ModelUnusableException(message, cause);
                };
            // All that it says is its cause.
            case ExceptionInInitializerError _ -> new ExceptionInInitializerError(cause);
            default -> new ThrownByHook(thrown.getClass().getName(), message, cause);
        };
    }

    /// The name of an exception's class, without its package.
    public static String simpleName(Throwable thrown) {
        return thrown instanceof ThrownByHook told
                ? told.type.substring(1 + Math.max(told.type.lastIndexOf('.'), told.type.lastIndexOf('$')))
                : thrown.getClass().getSimpleName();
    }

    /// As the exception's own class would say it.
    @Override
    @SuppressWarnings("OverrideThrowableToString") // Its message is not the name of another class.
    public String toString() {
        return getMessage() == null ? type : type + ": " + getMessage();
    }
}
