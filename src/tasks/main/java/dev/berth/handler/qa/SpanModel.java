package dev.berth.handler.qa;

import dev.berth.handler.task.Row;
import java.util.List;

/// The model of a worker: rows of tokens in, start and end logits out. That of
/// [QuestionAnsweringHandler#modelFn] runs the files of the artifact. A `modelFn` of one's own may
/// return any other, and the handler does the rest.
@FunctionalInterface
public interface SpanModel {

    /// What the model says of rows. Row r begins at `r * columns` in both.
    ///
    /// @param columns at least as many as the longest row has tokens
    record Logits(float[] start, float[] end, int columns) {}

    /// Runs the model on at most [#rowsOfAForward] rows, on a worker's thread. Workers that share it
    /// call it at once.
    Logits forward(List<Row> rows);

    /// How many rows up to `length` tokens long go through one forward.
    default int rowsOfAForward(int length) {
        return 1;
    }

    /// Called once, before the sample is asked.
    default void warmUp() {}
}
