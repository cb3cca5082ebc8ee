package dev.berth.handler.qa;

import dev.berth.engine.EngineException;
import dev.berth.handler.task.Row;
import dev.berth.handler.task.RowModel;
import dev.berth.hooks.ElementType;
import java.util.Arrays;
import java.util.List;

/// The files of an artifact on one accelerator.
final class TracedSpanModel implements SpanModel {

  static final List<String> OUTPUTS = List.of("start_logits", "end_logits");

  private final RowModel rows;

  TracedSpanModel(RowModel rows) {
    this.rows = rows;
  }

  /// The most tokens of a row.
  int maxSequence() {
    return rows.maxSequence();
  }

  @Override
  public void warmUp() {
    rows.warmUps(new Row(new long[1], new long[1])).forEach(this::forward);
  }

  @Override
  public int rowsOfAForward(int length) {
    return rows.rowsOfAForward(length);
  }

  @Override
  public Logits forward(List<Row> some) {
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
}
