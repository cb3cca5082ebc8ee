package dev.berth.serving;

/// A record, and what it costs in a batch.
record Measured<I>(I record, int length) {}
