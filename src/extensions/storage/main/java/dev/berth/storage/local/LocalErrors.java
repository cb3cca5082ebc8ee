package dev.berth.storage.local;

import dev.berth.storage.Shortened;
import dev.berth.storage.StorageException;
import java.io.IOException;
import java.nio.channels.ClosedByInterruptException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;

/// Says what the operating system refused, in words of its own where it has some.
final class LocalErrors {

    private LocalErrors() {}

    interface Action<T> {
        T run() throws IOException;
    }

    /// @param verb what could not be done, such as `read`
    static <T> T naming(Object location, String verb, Action<T> action) {
        try {
            return action.run();
        } catch (IOException e) {
            throw of(location, verb, e);
        }
    }

    /// @param verb what could not be done, such as `read`
    static StorageException of(Object location, String verb, IOException cause) {
        if (cause instanceof ClosedByInterruptException) {
            return StorageException.retryable(location, "interrupted", cause);
        }
        return StorageException.permanent(location, message(verb, cause), cause);
    }

    /// Of bytes that a file which is open does not take. No other file takes them then: the disk is
    /// full, or gone.
    static StorageException ofBytes(Object location, IOException cause) {
        return cause instanceof ClosedByInterruptException
                ? of(location, "written", cause)
                : StorageException.ofStore(location, message("written", cause), cause);
    }

    private static String message(String verb, IOException cause) {
        return "can't be %s: %s".formatted(verb, reason(cause));
    }

    private static String reason(IOException cause) {
        return switch (cause) {
            case NoSuchFileException _ -> "no such file or directory";
            case AccessDeniedException _ ->
                "permission denied; chmod it, or run as its owner, in a container with docker run --user";
            case FileSystemException e
            when "Read-only file system".equals(e.getReason()) ->
                e.getReason() + "; name another directory, or mount this one without :ro";
            case FileSystemException e when e.getReason() != null -> e.getReason();
            default -> Shortened.explanation(cause);
        };
    }
}
