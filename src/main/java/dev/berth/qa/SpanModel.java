package dev.berth.qa;

import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.Shapes;
import dev.berth.hooks.Accelerator;
import dev.berth.torch.TorchModel;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/// The model of one accelerator: rows of tokens in, start and end logits out. It pads rows to a shape that the traced
/// files take.
///
/// On a CPU a row goes by itself, without padding: a batch gains nothing there, and dynamic int8 quantisation scales
/// a whole tensor at once, so that a neighbour or padding would change a row's scores.
public final class SpanModel {

  static final List<String> INPUTS = List.of("input_ids", "attention_mask", "token_type_ids");

  private static final int MAX_TOKENS_OF_A_FORWARD = 16_384;

  /// One sequence for the model.
  ///
  /// @param types the token types, as long as `ids`
  record Row(long[] ids, long[] types) {}

  /// What the model says of a batch of rows. Row r begins at `r * columns` in both.
  record Logits(float[] start, float[] end, int columns) {}

  private record Loaded(TorchModel model, int batch, int sequence) {}

  private final List<String> inputs;
  private final long padding;
  private final boolean dynamic;
  private final boolean oneByOne;
  private final List<Loaded> files;

  private SpanModel(ModelArtifact artifact, Accelerator accelerator, List<Loaded> files) {
    this.inputs = artifact.inputs();
    this.padding = artifact.pair().padding();
    this.dynamic = artifact.shapes() instanceof Shapes.Dynamic;
    this.oneByOne = accelerator instanceof Accelerator.Cpu;
    this.files = files;
  }

  static SpanModel load(ModelArtifact artifact, Accelerator accelerator) {
    var shapes = switch (artifact.shapes()) {
      case Shapes.Dynamic(var file) -> List.of(new Shapes.Shape(file, Integer.MAX_VALUE, artifact.maxSequenceLength()));
      case Shapes.Compiled(var compiled) -> compiled;
    };
    var files = new ArrayList<Loaded>();
    try {
      for (var shape : shapes) {
        var model = TorchModel.load(shape.file(), accelerator, artifact.outputs());
        files.add(new Loaded(model, shape.batch(), shape.sequence()));
      }
    } catch (RuntimeException e) {
      files.forEach(file -> file.model.close());
      throw e;
    }
    return new SpanModel(artifact, accelerator, List.copyOf(files));
  }

  /// The most tokens of a row.
  int maxSequence() {
    return files.getLast().sequence;
  }

  /// The row lengths that [#forward] has a shape for, or a few of many where any length will do.
  List<Integer> warmUpLengths() {
    return dynamic
        ? List.of(maxSequence(), Math.min(32, maxSequence()), maxSequence())
        : files.stream().map(Loaded::sequence).toList();
  }

  /// How many rows up to `length` tokens long go through one forward.
  int rowsOfAForward(int length) {
    if (!dynamic) {
      return fitting(length).batch;
    }
    return oneByOne ? 1 : Math.max(1, MAX_TOKENS_OF_A_FORWARD / length);
  }

  /// Runs the model on at most [#rowsOfAForward] rows.
  Logits forward(List<Row> rows) {
    int longest = rows.stream().mapToInt(row -> row.ids.length).max().orElseThrow();
    var file = fitting(longest);
    int columns = dynamic ? longest : file.sequence;
    int count = dynamic ? rows.size() : file.batch;
    var tensors = inputs.stream().map(input -> tensor(input, rows, count, columns)).toList();
    var outputs = file.model.forward(tensors, count, columns);
    return new Logits(outputs[0], outputs[1], columns);
  }

  /// Not [AutoCloseable]: workers share it, and only the handler knows when the last one is gone.
  void close() {
    files.forEach(file -> file.model.close());
  }

  private Loaded fitting(int length) {
    return files.stream().filter(file -> file.sequence >= length).findFirst().orElseThrow(() ->
        new IllegalArgumentException("a row of %d tokens, and the longest shape takes %d".formatted(length, maxSequence())));
  }

  private long[] tensor(String input, List<Row> rows, int count, int columns) {
    var values = new long[Math.multiplyExact(count, columns)];
    if (input.equals("input_ids")) {
      Arrays.fill(values, padding);
    }
    for (int r = 0; r < rows.size(); r++) {
      var row = rows.get(r);
      int from = r * columns;
      switch (input) {
        case "input_ids" -> System.arraycopy(row.ids, 0, values, from, row.ids.length);
        case "attention_mask" -> Arrays.fill(values, from, from + row.ids.length, 1);
        case "token_type_ids" -> System.arraycopy(row.types, 0, values, from, row.types.length);
        default -> throw new IllegalArgumentException("%s is none of the inputs %s".formatted(input, INPUTS));
      }
    }
    return values;
  }
}
