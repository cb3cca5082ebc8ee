package dev.berth.artifact.code;

import dev.berth.error.Unsaid;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.util.Arrays;
import java.util.Objects;
import java.util.stream.Stream;

/// What an artifact's own code has thrown, for messages. Of its own exceptions only those may come
/// here that were [asked][ThrownByHook#ask].
public final class Thrown {

    /// Causes may go round in a circle.
    private static final int MOST_CAUSES = 20;

    private Thrown() {}

    /// The end of a message: where it was thrown, what it is, and what has caused it. ` at
    /// Inference.java:36: java.lang.IllegalStateException: no words, caused by java.io.IOException:
    /// disk`
    public static String at(Throwable thrown) {
        return "%s: %s".formatted(place(thrown), of(thrown));
    }

    /// ` at Inference.java:17`, the line of the artifact's code that threw or passed on an exception;
    /// empty where it has come through none.
    public static String place(Throwable thrown) {
        return chain(thrown)
                .flatMap(cause -> Arrays.stream(cause.getStackTrace()))
                .filter(Unsaid::isOfHooks)
                .findFirst()
                .map(frame -> " at " + shown(frame))
                .orElse("");
    }

    /// Jars may have been compiled without the names of files, or without lines.
    private static String shown(StackTraceElement frame) {
        var file = frame.getFileName();
        if (file == null) {
            return "%s.%s".formatted(frame.getClassName(), frame.getMethodName());
        }
        return frame.getLineNumber() < 0 ? file : "%s:%d".formatted(file, frame.getLineNumber());
    }

    /// The same as [#at] without the place.
    public static String of(Throwable thrown) {
        // All that this one says is its cause.
        var first =
                thrown instanceof ExceptionInInitializerError && thrown.getCause() != null ? thrown.getCause() : thrown;
        return withCauses(first.toString(), first) + cure(thrown);
    }

    /// A message with each cause behind it that it does not tell: `…, caused by java.io.IOException:
    /// disk`
    public static String withCauses(String message, Throwable thrown) {
        var told = new StringBuilder(message);
        chain(thrown)
                // The server's own exceptions say all that is in their causes.
                .takeWhile(cause -> !isOfTheServer(cause))
                .map(Throwable::getCause)
                .filter(cause -> cause != null && told.indexOf(cause.toString()) < 0)
                // Below an error that names the class already.
                .filter(cause -> !(cause instanceof ClassNotFoundException))
                .forEach(cause -> told.append(", caused by ").append(cause));
        return told.toString();
    }

    /// What to do about a class that nobody has, or a file that can't be used, as the end of a message;
    /// empty for anything else.
    public static String cure(Throwable thrown) {
        return chain(thrown)
                .map(Thrown::cureOf)
                .filter(cure -> !cure.isEmpty())
                .findFirst()
                .orElse("");
    }

    private static String cureOf(Throwable cause) {
        return switch (cause) {
            // Of a class whose own start has failed, that failure was told.
            case NoClassDefFoundError failed
            when String.valueOf(failed.getMessage()).startsWith("Could not initialize class") -> "";
            case NoClassDefFoundError _, ClassNotFoundException _ -> "; put the jar that has this class into code/lib";
            case AccessDeniedException _ ->
                "; this user has no right to it: chmod it, or run as its owner, in a container with docker run --user";
            case FileSystemException refused
            when "Read-only file system".equals(refused.getReason()) ->
                "; write to another directory, or mount this one without :ro or as a volume";
            default -> "";
        };
    }

    /// Whether it is one of the server's own.
    static boolean isOfTheServer(Throwable thrown) {
        return !(thrown instanceof ThrownByHook) && thrown.getClass().getName().startsWith("dev.berth.");
    }

    /// It and its causes, the first one first. Those of hooks may go in circles.
    public static Stream<Throwable> chain(Throwable thrown) {
        return Stream.iterate(thrown, Objects::nonNull, Throwable::getCause).limit(MOST_CAUSES);
    }
}
