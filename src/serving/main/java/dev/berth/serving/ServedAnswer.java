package dev.berth.serving;

import dev.berth.error.ServingException;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import java.util.Optional;
import java.util.function.BooleanSupplier;

/// What a model answers: one body, or parts as they are made.
public sealed interface ServedAnswer {

    /// Where the request's time went. Of a streamed answer only when it has ended.
    Invocation invocation();

    record Whole(InvocationResponse response, Invocation invocation) implements ServedAnswer {}

    /// An answer of which the first part is there, or that has none. Read on the request's thread.
    non-sealed interface Streamed extends ServedAnswer {

        MediaType contentType();

        /// Waits for the next part, framed as the content type wants it; nothing: that was all.
        ///
        /// @param readerHasGone asked now and then. It must not block
        /// @throws ServingException when there will be no more: the model failed, the time is over or
        ///   the reader has gone
        Optional<byte[]> next(BooleanSupplier readerHasGone);

        /// Whether [#next] has something without waiting, so that there is no need to send what was
        /// written on its way.
        boolean hasNext();

        void abandon();

        /// Has something done when the time is over while the reader does not take what there is.
        ///
        /// @param cutOff must not block
        void whenLate(Runnable cutOff);
    }
}
