package dev.berth.handler.text;

import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.Shapes;
import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Tensor;
import dev.berth.tokenizer.Encoding;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;

/// The model of one accelerator: rows of tokens in, the numbers of its one output for each row out. It pads rows to a shape that
/// the traced files take.
///
/// On a CPU each row goes by itself: a batch gains nothing there, and int8 scales a whole tensor at once, so that padding would
/// change a row's scores.
public final class RowModel {

  static final List<String> INPUTS = List.of("input_ids", "attention_mask", "token_type_ids");

  private static final int MAX_TOKENS_OF_A_FORWARD = 16_384;

  /// With less work each, cores wait for each other longer than they save.
  private static final int TOKENS_FOR_A_CORE = 16;

  private record Loaded(Graph model, int batch, int sequence) {}

  private final List<String> inputs;
  private final String output;
  private final boolean perToken;
  private final long padding;
  private final boolean dynamic;
  private final boolean oneByOne;
  private final List<Loaded> files;

  private RowModel(ModelArtifact artifact, boolean perToken, Accelerator accelerator, List<Loaded> files) {
    this.inputs = artifact.inputs();
    this.output = artifact.outputs().getFirst();
    this.perToken = perToken;
    this.padding = artifact.pair().padding();
    this.dynamic = artifact.shapes() instanceof Shapes.Dynamic;
    this.oneByOne = accelerator instanceof Accelerator.Cpu;
    this.files = List.copyOf(files);
  }

  /// Loads a copy of the artifact's files onto each accelerator, file by file: the Neuron runtime then puts the copies of a
  /// file on different cores.
  ///
  /// @param perToken whether the output has numbers for each token, and not for the row
  static Map<Accelerator, RowModel> load(ModelArtifact artifact, boolean perToken, List<Accelerator> accelerators) {
    var shapes = switch (artifact.shapes()) {
      case Shapes.Dynamic(var file) -> List.of(new Shapes.Shape(file, Integer.MAX_VALUE, artifact.maxSequenceLength()));
      case Shapes.Compiled(var compiled) -> compiled;
    };
    var files = new LinkedHashMap<Accelerator, List<Loaded>>();
    accelerators.forEach(accelerator -> files.put(accelerator, new ArrayList<>()));
    try {
      for (var shape : shapes) {
        files.forEach((accelerator, loaded) ->
            loaded.add(new Loaded(Graph.load(shape.file(), accelerator), shape.batch(), shape.sequence())));
      }
    } catch (RuntimeException e) {
      files.values().forEach(loaded -> loaded.forEach(file -> file.model.close()));
      throw e;
    }
    var models = new LinkedHashMap<Accelerator, RowModel>();
    files.forEach((accelerator, loaded) -> models.put(accelerator, new RowModel(artifact, perToken, accelerator, loaded)));
    return models;
  }

  /// Runs each shape once, or twice where any will do: the engine compiles a graph on its first two calls.
  ///
  /// @param row any
  void warmUp(Encoding row) {
    if (dynamic) {
      forward(List.of(row));
      forward(List.of(row));
    } else {
      files.forEach(file -> run(file, List.of(row), file.batch, file.sequence));
    }
  }

  /// How many rows of up to `length` tokens go through one forward.
  private int rowsOfAForward(int length) {
    if (!dynamic) {
      return fitting(length, Integer.MAX_VALUE).batch;
    }
    return oneByOne ? 1 : Math.max(1, MAX_TOKENS_OF_A_FORWARD / length);
  }

  /// The output of the model for each row: all numbers of a row, or those of each of its tokens one behind the other.
  List<float[]> forward(List<Encoding> rows) {
    if (rows.isEmpty()) {
      return List.of();
    }
    int length = longest(rows);
    int most = rowsOfAForward(length);
    var answers = new ArrayList<float[]>(rows.size());
    for (int from = 0; from < rows.size(); from += most) {
      var some = rows.subList(from, Math.min(from + most, rows.size()));
      int columns = longest(some);
      var file = fitting(columns, some.size());
      answers.addAll(dynamic ? run(file, some, some.size(), columns) : run(file, some, file.batch, file.sequence));
    }
    return answers;
  }

  private static int longest(List<Encoding> rows) {
    return rows.stream().mapToInt(Encoding::size).max().orElseThrow();
  }

  private List<float[]> run(Loaded file, List<Encoding> rows, int count, int columns) {
    var tensors = inputs.stream().map(input -> tensor(input, rows, count, columns)).toList();
    var outputs = file.model.forward(tensors, count * columns / TOKENS_FOR_A_CORE);
    if (outputs.size() != 1) {
      throw new EngineException("the model returned %d tensors, expected one: %s".formatted(outputs.size(), output));
    }
    var found = outputs.getFirst();
    int rank = perToken ? 3 : 2;
    if (found.type() != ElementType.FLOAT32 || found.rank() != rank || found.shape()[0] != count
        || perToken && found.shape()[1] != columns) {
      throw new EngineException("%s: found %s, expected float32[%d, %s…]".formatted(
          output, found, count, perToken ? columns + ", " : ""));
    }
    var values = found.floats();
    int width = found.shape()[rank - 1];
    int stride = values.length / count;
    var answers = new ArrayList<float[]>(rows.size());
    for (int r = 0; r < rows.size(); r++) {
      int from = r * stride;
      answers.add(Arrays.copyOfRange(values, from, from + (perToken ? rows.get(r).size() * width : width)));
    }
    return answers;
  }

  private Tensor tensor(String input, List<Encoding> rows, int count, int columns) {
    Function<Encoding, long[]> part = switch (input) {
      case "input_ids" -> Encoding::ids;
      case "attention_mask" -> Encoding::attentionMask;
      case "token_type_ids" -> Encoding::typeIds;
      default -> throw new IllegalArgumentException("%s is none of the inputs %s".formatted(input, INPUTS));
    };
    var values = new long[count * columns];
    if (input.equals("input_ids")) {
      Arrays.fill(values, padding);
    }
    for (int r = 0; r < rows.size(); r++) {
      System.arraycopy(part.apply(rows.get(r)), 0, values, r * columns, rows.get(r).size());
    }
    return Tensor.of(values, count, columns);
  }

  /// The file of the shortest sequence that `length` fits, and among those of the smallest batch that `rows` fit, else of the
  /// largest.
  private Loaded fitting(int length, int rows) {
    int sequence = files.stream().mapToInt(Loaded::sequence).filter(s -> s >= length).findFirst().orElseThrow();
    var candidates = files.stream().filter(file -> file.sequence == sequence).toList();
    return candidates.stream().filter(file -> file.batch >= rows).findFirst().orElseGet(candidates::getLast);
  }

  /// Not [AutoCloseable]: workers share it, and only the handler knows when the last one is gone.
  void close() {
    files.forEach(file -> file.model.close());
  }
}
