package dev.berth.serving;

import dev.berth.batching.Caller;
import dev.berth.memory.RequestMemory;
import dev.berth.serving.hooks.Deadline;
import java.util.Optional;

/// What a request brings with it: who asks, until when, and what the answer may take.
///
/// @param memory what the request takes of the memory of all
/// @param streams for answers that may leave part by part; nothing: the answer is whole
/// @param dialect what the caller speaks where hooks don't
public record Call(
        Deadline deadline, RequestMemory memory, Caller caller, Optional<StreamLimits> streams, Dialect dialect) {}
