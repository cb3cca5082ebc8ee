package dev.berth.handler.qa;

import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.Shapes;
import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.LongBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The model of one accelerator: rows of tokens in, start and end logits out. It pads rows to a shape that the traced
/// files take.
///
/// On a CPU a row goes by itself, without padding: a batch gains nothing there, and dynamic int8 quantisation scales
/// a whole tensor at once, so that a neighbour or padding would change a row's scores.
public final class SpanModel {

  static final List<String> OUTPUTS = List.of("start_logits", "end_logits");
  static final List<String> INPUTS = List.of("input_ids", "attention_mask", "token_type_ids");

  private static final int MAX_TOKENS_OF_A_FORWARD = 16_384;

  /// With less work each, cores wait for each other longer than they save. On 2 cores a question of 45 tokens is answered
  /// in 8.3 ms with both of them and in 9.1 with one.
  private static final int TOKENS_FOR_A_CORE = 16;

  /// One sequence for the model.
  ///
  /// @param types the token types, as long as `ids`
  record Row(long[] ids, long[] types) {}

  /// What the model says of a batch of rows. Row r begins at `r * columns` in both.
  record Logits(float[] start, float[] end, int columns) {}

  private record Loaded(Graph model, int batch, int sequence) {}

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

  /// Loads a copy of the artifact's files onto each accelerator.
  ///
  /// File by file, because the Neuron runtime gives each file that is loaded to the core that has the fewest: so the
  /// copies of a file are on different cores, and workers that run the same shape do not wait for each other.
  static Map<Accelerator, SpanModel> load(ModelArtifact artifact, List<Accelerator> accelerators) {
    var shapes = switch (artifact.shapes()) {
      case Shapes.Dynamic(var file) -> List.of(new Shapes.Shape(file, Integer.MAX_VALUE, artifact.maxSequenceLength()));
      case Shapes.Compiled(var compiled) -> compiled;
    };
    var files = new LinkedHashMap<Accelerator, List<Loaded>>();
    accelerators.forEach(accelerator -> files.put(accelerator, new ArrayList<>()));
    try {
      for (var shape : shapes) {
        files.forEach((accelerator, loaded) -> loaded.add(new Loaded(
            Graph.load(shape.file(), accelerator), shape.batch(), shape.sequence())));
      }
    } catch (RuntimeException e) {
      files.values().forEach(loaded -> loaded.forEach(file -> file.model.close()));
      throw e;
    }
    var models = new LinkedHashMap<Accelerator, SpanModel>();
    files.forEach((accelerator, loaded) -> models.put(accelerator, new SpanModel(artifact, accelerator, List.copyOf(loaded))));
    return models;
  }

  /// The most tokens of a row.
  int maxSequence() {
    return files.getLast().sequence;
  }

  /// Runs every shape once, or a few where any shape will do: the engine compiles a graph on its first two calls, and a
  /// NeuronCore is given its program on the first one.
  void warmUp() {
    if (dynamic) {
      int few = Math.min(32, maxSequence());
      // On a CPU what is compiled for a short row serves a long one, and long ones would take a fifth of a second.
      var lengths = oneByOne ? List.of(few, few) : List.of(maxSequence(), few, maxSequence());
      lengths.forEach(length -> forward(rows(1, length)));
    } else {
      files.forEach(file -> forward(rows(file.batch, file.sequence)));
    }
  }

  private static List<Row> rows(int count, int length) {
    return Collections.nCopies(count, new Row(new long[length], new long[length]));
  }

  /// How many rows up to `length` tokens long go through one forward.
  int rowsOfAForward(int length) {
    if (!dynamic) {
      return fitting(length, Integer.MAX_VALUE).batch;
    }
    return oneByOne ? 1 : Math.max(1, MAX_TOKENS_OF_A_FORWARD / length);
  }

  /// Runs the model on at most [#rowsOfAForward] rows.
  Logits forward(List<Row> rows) {
    int longest = rows.stream().mapToInt(row -> row.ids.length).max().orElseThrow();
    var file = fitting(longest, rows.size());
    int columns = dynamic ? longest : file.sequence;
    int count = dynamic ? rows.size() : file.batch;
    var tensors = inputs.stream().map(input -> tensor(input, rows, count, columns, padding)).toList();
    var outputs = file.model.forward(tensors, count * columns / TOKENS_FOR_A_CORE);
    if (outputs.size() != OUTPUTS.size()) {
      throw new EngineException("the model returned %d tensors, expected %s".formatted(outputs.size(), OUTPUTS));
    }
    return new Logits(logits(outputs, 0, count, columns), logits(outputs, 1, count, columns), columns);
  }

  private static float[] logits(List<Tensor> outputs, int index, int count, int columns) {
    var output = outputs.get(index);
    if (output.type() != ElementType.FLOAT32 || !Arrays.equals(output.shape(), new int[] {count, columns})) {
      throw new EngineException("%s: found %s, expected float32[%d, %d]".formatted(OUTPUTS.get(index), output, count, columns));
    }
    return output.floats();
  }

  /// Not [AutoCloseable]: workers share it, and only the handler knows when the last one is gone.
  void close() {
    files.forEach(file -> file.model.close());
  }

  /// The file of the shortest sequence that `length` fits, and among those of the smallest batch that `rows` fit, else
  /// of the largest.
  private Loaded fitting(int length, int rows) {
    int sequence = files.stream().mapToInt(Loaded::sequence).filter(s -> s >= length).findFirst().orElseThrow(() ->
        new IllegalArgumentException("a row of %d tokens, and the longest shape takes %d".formatted(length, maxSequence())));
    var candidates = files.stream().filter(file -> file.sequence == sequence).toList();
    return candidates.stream().filter(file -> file.batch >= rows).findFirst().orElseGet(candidates::getLast);
  }

  /// One input of a forward: the rows, padded to `count` rows of `columns` tokens. It lies where the engine reads it.
  static Tensor tensor(String input, List<Row> rows, int count, int columns, long padding) {
    var type = ElementType.INT64;
    var data = ByteBuffer.allocateDirect(Math.multiplyExact(Math.multiplyExact(count, columns), type.bytes()));
    var values = data.order(ByteOrder.LITTLE_ENDIAN).asLongBuffer();
    if (input.equals("input_ids") && padding != 0) {
      fill(values, 0, values.capacity(), padding);
    }
    for (int r = 0; r < rows.size(); r++) {
      var row = rows.get(r);
      int from = r * columns;
      switch (input) {
        case "input_ids" -> values.put(from, row.ids);
        case "attention_mask" -> fill(values, from, row.ids.length, 1);
        case "token_type_ids" -> values.put(from, row.types);
        default -> throw new IllegalArgumentException("%s is none of the inputs %s".formatted(input, INPUTS));
      }
    }
    return Tensor.of(type, data, count, columns);
  }

  private static void fill(LongBuffer values, int from, int count, long value) {
    for (int i = from; i < from + count; i++) {
      values.put(i, value);
    }
  }
}
