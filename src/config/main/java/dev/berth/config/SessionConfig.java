package dev.berth.config;

import java.util.Optional;

/// How many sessions there may be, of all models together.
///
/// @param bytes empty: a share of the heap
public record SessionConfig(int most, Optional<Long> bytes) {

    static SessionConfig read(Reading reading) {
        return new SessionConfig(
                reading.value("--max-sessions", Syntax.positive(), 1000),
                reading.optional("--session-memory-mb", Syntax.mebibytes()));
    }
}
