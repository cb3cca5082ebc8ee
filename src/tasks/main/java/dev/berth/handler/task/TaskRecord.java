package dev.berth.handler.task;

/// A record on its way to the model.
///
/// @param <T> what the model gets
/// @param <P> the parameters of the task
public record TaskRecord<T, P>(T input, P parameters) {}
