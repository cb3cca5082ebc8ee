package dev.berth.serving.hooks;

import dev.berth.artifact.code.Thrown;
import dev.berth.artifact.code.ThrownByHook;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.HookException;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.ModelUnusableException;
import dev.berth.hooks.NotAcceptableException;
import dev.berth.hooks.UnsupportedMediaTypeException;
import java.util.Objects;
import java.util.concurrent.ExecutionException;

/// What a hook's exception means for the caller. Anything that a hook does not throw on purpose is
/// the server's failure, an [IllegalArgumentException] included.
public final class HookFailure {

    private HookFailure() {}

    /// On the thread of a hook, whose interrupts are none of the server's.
    public static ServingException inside(String hook, Throwable thrown) {
        return thrown instanceof InterruptedException ? failed(hook, ThrownByHook.ask(thrown)) : of(hook, thrown);
    }

    /// On the thread of the request.
    public static ServingException of(String hook, Throwable thrown) {
        // It would have the message of its cause a second time.
        if (thrown instanceof ExecutionException hooks) {
            return inside(hook, hooks.getCause());
        }
        var told = ThrownByHook.ask(thrown);
        // One of the server's stays that, whatever the hook has added to it.
        if (thrown instanceof ServingException known && told instanceof ThrownByHook) {
            return known.type().because(known.getMessage(), told);
        }
        return switch (told) {
            case ServingException known -> known;
            case HookException chosen -> type(chosen).because(chosen.getMessage(), chosen);
            case OutOfMemoryError memory ->
                ErrorType.INSUFFICIENT_MEMORY.because(
                        "%s ran out of memory: %s".formatted(hook, memory.getMessage()), memory);
            case InterruptedException interrupted -> {
                Thread.currentThread().interrupt();
                yield ErrorType.NOT_READY.because("the server is stopping", interrupted);
            }
            // A library between the hook and the body may have wrapped the server's own exception.
            case Throwable other when other.getCause() instanceof ServingException cause -> cause;
            case Throwable other -> failed(hook, other);
        };
    }

    private static ServingException failed(String hook, Throwable thrown) {
        return ErrorType.INTERNAL.because(
                "%s failed%s: %s".formatted(hook, Thrown.place(thrown), message(thrown)), thrown);
    }

    /// The message of a class that can't be loaded is only its name.
    private static String message(Throwable thrown) {
        var name = ThrownByHook.simpleName(thrown);
        return switch (thrown) {
            case ExceptionInInitializerError e when e.getCause() != null -> "%s: %s".formatted(name, Thrown.of(e));
            case LinkageError _, ReflectiveOperationException _ ->
                "%s: %s%s".formatted(name, thrown.getMessage(), Thrown.cure(thrown));
            default -> Objects.requireNonNullElse(thrown.getMessage(), name) + Thrown.cure(thrown);
        };
    }

    private static ErrorType type(HookException e) {
        return switch (e) {
            case BadInputException _ -> ErrorType.BAD_INPUT;
            case UnsupportedMediaTypeException _ -> ErrorType.UNSUPPORTED_MEDIA_TYPE;
            case NotAcceptableException _ -> ErrorType.NOT_ACCEPTABLE;
            case InsufficientMemoryException _ -> ErrorType.INSUFFICIENT_MEMORY;
            case ModelUnusableException _ -> ErrorType.INTERNAL;
        };
    }
}
