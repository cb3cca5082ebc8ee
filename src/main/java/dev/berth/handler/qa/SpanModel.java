package dev.berth.handler.qa;

import dev.berth.artifact.ModelArtifact;
import dev.berth.engine.EngineException;
import dev.berth.handler.task.Row;
import dev.berth.handler.task.RowModel;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.ElementType;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The model of one accelerator: rows of tokens in, start and end logits out.
public final class SpanModel {

  static final List<String> OUTPUTS = List.of("start_logits", "end_logits");

  /// What the model says of a batch of rows. Row r begins at `r * columns` in both.
  record Logits(float[] start, float[] end, int columns) {}

  private final RowModel rows;

  private SpanModel(RowModel rows) {
    this.rows = rows;
  }

  /// Loads a copy of the artifact's files onto each accelerator.
  static Map<Accelerator, SpanModel> load(ModelArtifact artifact, List<Accelerator> accelerators) {
    var models = new LinkedHashMap<Accelerator, SpanModel>();
    RowModel.load(artifact, accelerators)
        .forEach((accelerator, rows) -> models.put(accelerator, new SpanModel(rows)));
    return models;
  }

  /// The most tokens of a row.
  int maxSequence() {
    return rows.maxSequence();
  }

  void warmUp() {
    rows.warmUps(new Row(new long[1], new long[1])).forEach(this::forward);
  }

  /// How many rows up to `length` tokens long go through one forward.
  int rowsOfAForward(int length) {
    return rows.rowsOfAForward(length);
  }

  /// Runs the model on at most [#rowsOfAForward] rows.
  Logits forward(List<Row> some) {
    var outputs = rows.forward(some);
    return new Logits(logits(outputs, 0), logits(outputs, 1), outputs.columns());
  }

  private static float[] logits(RowModel.Outputs outputs, int index) {
    var output = outputs.tensors().get(index);
    var expected = new int[] {outputs.count(), outputs.columns()};
    if (output.type() != ElementType.FLOAT32 || !Arrays.equals(output.shape(), expected)) {
      throw new EngineException(
          "%s: found %s, expected float32[%d, %d]"
              .formatted(OUTPUTS.get(index), output, outputs.count(), outputs.columns()));
    }
    return output.floats();
  }

  /// Not [AutoCloseable]: workers share it, and only the handler knows when the last one is gone.
  void close() {
    rows.close();
  }
}
