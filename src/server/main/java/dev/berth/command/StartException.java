package dev.berth.command;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.code.Thrown;
import dev.berth.engine.EngineException;
import dev.berth.serving.hooks.LoadException;
import java.io.UncheckedIOException;
import java.nio.file.AccessDeniedException;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.stream.Collectors;

/// The model can't be served; the message says why, one line for each problem, for whoever starts
/// the server.
public final class StartException extends Exception {

    public StartException(String message) {
        this(message, null);
    }

    public StartException(String message, Throwable cause) {
        super(message, cause);
    }

    /// @param problems at least one, each explained by its message; this message has theirs, each
    ///   once
    StartException(List<? extends Exception> problems) {
        super(
                problems.stream().map(Exception::getMessage).distinct().collect(Collectors.joining("\n")),
                problems.getFirst());
        problems.stream().skip(1).forEach(this::addSuppressed);
    }

    /// What to tell whoever starts the server. Exceptions that are not about the artifact or the
    /// device keep their type, because their message alone may say little.
    public static StartException of(Throwable e) {
        return switch (e) {
            case StartException told -> told;
            case ExecutionException wrapped -> of(wrapped.getCause());
            case LoadException hook when saysWhy(hook.getCause()) -> of(hook.getCause());
            case LoadException hook -> new StartException(hook.getMessage(), hook);
            case UncheckedIOException listing
            when listing.getCause() instanceof AccessDeniedException denied ->
                new StartException("%s: found a directory that this user may not read; chmod -R a+rX the model artifact"
                        .formatted(denied.getMessage()));
            case Throwable known when saysWhy(known) -> new StartException(known.getMessage(), known);
            default -> new StartException("the model could not be loaded" + Thrown.at(e), e);
        };
    }

    /// Whether the message is all that is to be known, and a stack would only hide it.
    boolean saysWhy() {
        return getCause() == null || saysWhy(getCause());
    }

    private static boolean saysWhy(Throwable e) {
        return e instanceof StartException
                || e instanceof ModelArtifactException
                || e instanceof EngineException
                || (e instanceof LoadException && e.getCause() == null);
    }
}
