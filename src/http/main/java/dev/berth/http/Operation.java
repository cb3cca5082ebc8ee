package dev.berth.http;

import dev.berth.error.ErrorType;

/// What OpenAPI's document says of one route, while it is put together. What is said first stands
/// first.
public interface Operation {

    Operation says(String description);

    /// @param example what the bodies have at least, as JSON with less typing
    Operation takes(String example);

    /// @param example a body of JSON
    Operation answers(String example);

    /// An answer of another type; `*/*` is any.
    Operation answersIn(String type);

    /// An answer without a body.
    Operation responds(int status, String description);

    /// Of two errors with the same status, the description has both.
    Operation fails(ErrorType... types);

    /// Fails as a request may that has a body and is much work.
    Operation failsInWork();

    /// Fails as any way to ask a model may.
    default Operation failsAsking() {
        return failsInWork().fails(ErrorType.NOT_ACCEPTABLE, ErrorType.OVERLOADED);
    }

    Operation query(String name, String type, String description);
}
