package dev.berth.telemetry;

import java.util.List;
import java.util.Optional;

/// One request in its trace, from its first byte until its answer is written.
public interface RequestTrace {

    /// Of a server that traces nothing.
    RequestTrace NONE = new RequestTrace() {};

    /// The trace and the request's own span, as the header `traceparent` of whatever it calls has them. Nothing
    /// where the server traces nothing.
    default Optional<String> traceParent() {
        return Optional.empty();
    }

    /// The id on its response and its log lines.
    default void id(String requestId) {}

    /// A model has taken it in.
    default void model(String name) {}

    /// It was answered with so many predictions.
    default void records(int count) {}

    /// A step of it begins, such as a hook.
    default Step step(String name) {
        return Step.NONE;
    }

    /// Its records wait from now on. The first [#batch] ends that.
    default void queued() {}

    /// A worker has taken records of several requests, of which this is one.
    ///
    /// @param requests all of them
    default Step batch(String name, List<RequestTrace> requests, BatchSize size, int worker) {
        return Step.NONE;
    }

    /// @param records or pieces of records
    /// @param tokens their lengths, added up
    record BatchSize(int records, long tokens) {}

    /// It has its answer.
    ///
    /// @param route the route's pattern
    /// @param error what went wrong, in one word; nothing where nothing did
    default void end(String route, int status, Optional<String> error) {}
}
