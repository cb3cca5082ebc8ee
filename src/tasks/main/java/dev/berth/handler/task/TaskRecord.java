package dev.berth.handler.task;

/// A record on its way to the model, or a bad one that keeps its place among the others.
///
/// @param <T> what the model gets
/// @param <P> the parameters of the task
public sealed interface TaskRecord<T, P> {

    /// @param alone whether it came as the only input of a body
    record Asked<T, P>(T input, P parameters, boolean alone) implements TaskRecord<T, P> {}

    /// @param message what is wrong with it
    record Rejected<T, P>(String message) implements TaskRecord<T, P> {}
}
