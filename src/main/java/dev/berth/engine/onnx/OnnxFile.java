package dev.berth.engine.onnx;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import dev.berth.artifact.ArtifactFile;
import dev.berth.engine.EngineException;
import dev.berth.engine.GraphNames;
import dev.berth.hooks.ElementType;
import dev.berth.memory.Footprint;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// What an ONNX file says of its model before it is loaded: a message of Protocol Buffers, of which
/// the few fields are read that are needed here. Their numbers stand in `onnx.proto`. Weights are
/// skipped. Used by one thread, once.
final class OnnxFile {

  /// ONNX Runtime's own reader refuses more too, and would end the process without a limit.
  private static final int DEEPEST = 100;

  /// Of a name or a path: nothing else is read as a text.
  private static final int LONGEST_TEXT = 1 << 16;

  /// What may be kept of a file, in bytes.
  private static final long MOST_KEPT = Runtime.getRuntime().maxMemory() / 8;

  /// What an entry of a list or a map takes besides its text, about.
  private static final int ENTRY = 64;

  /// A location that stands for an address in memory, which ONNX Runtime would read.
  private static final String ADDRESS = "_ORT_MEM_ADDR_";

  private static final Pattern INTEGERS = Pattern.compile("^Q|Integer|Quantize");

  /// A tensor of the model itself, whose elements are in another file.
  ///
  /// @param location relative to the model
  /// @param offset in that file, as it is written
  record External(String name, OnnxType type, List<Long> shape, String location, long offset) {

    /// How many bytes it has; -1 where that is no number of whole ones, or none that Java knows.
    long bytes() {
      if (type.made() == null || shape.stream().anyMatch(length -> length < 0)) {
        return -1;
      }
      try {
        return shape.stream().reduce((long) type.made().size, Math::multiplyExact);
      } catch (ArithmeticException _) {
        return -1;
      }
    }
  }

  /// It may be an ONNX model, but takes too much.
  private static final class TooMuchException extends IOException {
    TooMuchException(String message) {
      super(message);
    }
  }

  /// Reads a field, if it is one that is needed.
  @FunctionalInterface
  private interface Field {
    /// @param number of a field that has a length; of one that is a number, negated
    boolean read(int number) throws IOException;
  }

  private final CodedInputStream in;

  /// The numbers of the inputs' types by their names.
  private final Map<String, Integer> inputs = new LinkedHashMap<>();

  private final List<String> outputs = new ArrayList<>();

  /// The outputs that are texts.
  private final Set<String> texts = new HashSet<>();

  /// Those of inputs and outputs by their names, -1 for any length. A number alone has an empty
  /// one.
  private final Map<String, List<Integer>> shapes = new HashMap<>();

  /// What their dimensions are called; empty for one that has no name.
  private final Map<String, List<String>> symbols = new HashMap<>();

  /// Inputs and outputs that may have no value, which ONNX Runtime's Java knows no type for.
  private final List<String> optional = new ArrayList<>();

  /// The inputs that have a value already.
  private final Set<String> initialized = new HashSet<>();

  /// The files that hold weights, relative to this one.
  private final Set<String> weights = new LinkedHashSet<>();

  private final List<External> external = new ArrayList<>();

  /// How many tensors have their elements in other files, with those of branches, loops and
  /// functions.
  private int externals;

  /// What changes with these files and with this one.
  private List<String> stamps = List.of();

  /// How many tensors have weights in `float16`, less those in `float32`.
  private int halves;

  private boolean hasZeroPoints = true;

  private long bytes;

  private int depth;

  private long kept;

  private final OnnxCost cost = new OnnxCost();

  /// Names to look for among the inputs of nodes and the outputs, and those that are there.
  private final Set<String> wanted;

  private final Set<String> used = new HashSet<>();

  private final boolean keepsNodes;

  /// The nodes of the graph itself in their order, which is that of the work, where they are kept.
  private final List<Node> nodes = new ArrayList<>();

  private record Node(List<String> inputs, List<String> outputs, boolean hasGraph) {}

  /// How many graphs there have been inside of nodes.
  private int graphs;

  private boolean scalesBatches;

  private OnnxFile(CodedInputStream in, Set<String> wanted, boolean keepsNodes) throws IOException {
    this.in = in;
    this.wanted = wanted;
    this.keepsNodes = keepsNodes;
    fields(
        field ->
            switch (field) {
              case 7 -> message(this::graph);
              // Of training: message TrainingInfoProto.
              case 20 -> message(part -> (part == 1 || part == 2) && message(this::innerGraph));
              case 25 -> function();
              default -> false;
            });
    if (cost.isTooMuch()) {
      throw new TooMuchException(
          "its branches, loops or functions are too deep in each other to be loaded; export it with fewer levels");
    }
    inputs.keySet().removeAll(initialized);
  }

  private static OnnxFile read(Path file) throws IOException {
    return read(file, Set.of(), false);
  }

  private static OnnxFile read(Path file, Set<String> wanted, boolean keepsNodes)
      throws IOException {
    try (var content = Files.newInputStream(file)) {
      return new OnnxFile(CodedInputStream.newInstance(content), wanted, keepsNodes);
    }
  }

  /// ONNX Runtime drops what no node takes, and knows nothing of it then. The nodes come first in a
  /// file, so it is read once more.
  private void dropUnused(Path file) throws IOException {
    if (external.isEmpty()) {
      return;
    }
    var found =
        read(file, external.stream().map(External::name).collect(Collectors.toSet()), false).used;
    externals -= external.size();
    external.removeIf(tensor -> !found.contains(tensor.name()));
    externals += external.size();
  }

  /// What can be read; nothing where the file is no ONNX.
  static GraphNames names(Path file) {
    try {
      var read = read(file);
      var types = read.inputs.values().stream().map(OnnxType::of).toList();
      return new GraphNames(
          List.copyOf(read.inputs.keySet()),
          types.stream().allMatch(type -> type.takes().isPresent())
              ? types.stream().map(type -> type.takes().orElseThrow()).toList()
              : List.<ElementType>of(),
          read.inputs.size(),
          read.outputs,
          read.texts,
          read.shapes,
          read.symbols,
          read.constants(file),
          List.copyOf(read.weights),
          read.halves > 0,
          read.scalesBatches,
          Optional.empty());
    } catch (IOException _) {
      return GraphNames.UNKNOWN;
    }
  }

  /// The outputs that no input reaches. What the graph inside a node uses is not looked at. Only an
  /// output of one shape can be such, and so nodes are not kept for others.
  private Set<String> constants(Path file) throws IOException {
    var constants =
        outputs.stream()
            .filter(output -> shapes.containsKey(output) && !shapes.get(output).contains(-1))
            .collect(Collectors.toCollection(HashSet::new));
    if (constants.isEmpty()) {
      return constants;
    }
    try {
      var reached = new HashSet<>(inputs.keySet());
      for (var node : read(file, Set.of(), true).nodes) {
        if (node.hasGraph || node.inputs.stream().anyMatch(reached::contains)) {
          reached.addAll(node.outputs);
        }
      }
      constants.removeAll(reached);
      return constants;
    } catch (TooMuchException _) {
      return Set.of();
    }
  }

  /// What a model takes in memory. A session of ONNX Runtime 1.28 on x86-64 takes 30 MB for a BERT
  /// of 24 MB in int8, and 91 for one of 93 MB in fp32.
  static Footprint footprint(Path file) {
    try {
      long size = read(file).measured(file, "").bytes;
      int cores = Runtime.getRuntime().availableProcessors();
      return new Footprint(13 * size / 10 * (OnnxGraph.singleThreaded(size, cores) + 1), size);
    } catch (IOException | InvalidPathException _) {
      // Loading it says what is wrong.
      return Footprint.NONE;
    }
  }

  private OnnxFile measured(Path file, String stamp) throws IOException {
    bytes = Files.size(file);
    stamps = new ArrayList<>(List.of(stamp));
    for (var each : weights) {
      bytes += Files.size(file.resolveSibling(each));
      stamps.add(stamp(file.resolveSibling(each)));
    }
    return this;
  }

  private static String stamp(Path file) throws IOException {
    return Files.size(file) + " " + Files.getLastModifiedTime(file);
  }

  /// Whether one of its files has been written to since it was read.
  boolean hasChanged(Path file) throws IOException {
    var before = stamps;
    return !measured(file, stamp(file)).stamps.equals(before);
  }

  /// Checks what ONNX Runtime would not: that the file can be read to its end, and that its weights
  /// are files of the artifact.
  ///
  /// @throws EngineException when it must not be loaded
  static OnnxFile checked(Path file) {
    ArtifactFile.problem(file)
        .ifPresent(
            problem -> {
              throw refused(file, problem, null);
            });
    try {
      var stamp = stamp(file);
      var read = read(file);
      if (read.outputs.isEmpty()) {
        throw new InvalidProtocolBufferException("a model returns something");
      }
      if (!read.optional.isEmpty()) {
        throw refused(
            file,
            "its %s is of an optional type, expected a tensor of numbers or texts; export it without"
                .formatted(read.optional.getFirst()),
            null);
      }
      for (var weights : read.weights) {
        checkWeights(file, weights);
      }
      read.dropUnused(file);
      return read.measured(file, stamp);
    } catch (TooMuchException e) {
      throw refused(file, e.getMessage(), e);
    } catch (IOException e) {
      throw refused(
          file, "found no ONNX model, or only the beginning of one; copy or export it again", e);
    }
  }

  /// What it has in other files.
  List<External> external() {
    return external;
  }

  /// How many tensors have their elements in other files, those that no [External] stands for
  /// included.
  int externals() {
    return externals;
  }

  /// How large it is, with the files that hold its weights.
  long bytes() {
    return bytes;
  }

  /// Whether all products of integers are of MatMulInteger and name the zero points of both sides.
  boolean hasZeroPoints() {
    return hasZeroPoints;
  }

  private static void checkWeights(Path file, String weights) throws IOException {
    var directory = file.toRealPath().getParent();
    try {
      var path = directory.resolve(weights).normalize();
      if (Path.of(weights).isAbsolute()
          || weights.contains(ADDRESS)
          || !path.startsWith(directory)) {
        throw refused(
            file, "its weights are in %s, expected a file beside it".formatted(weights), null);
      }
      if (!Files.exists(path) && Files.exists(file.resolveSibling(weights))) {
        throw refused(
            file,
            "its weights are in %s, and both are links to files of other names; serve pack copies them"
                .formatted(weights),
            null);
      }
      ArtifactFile.problem(path)
          .ifPresent(
              problem -> {
                throw refused(file, "its weights are in %s: %s".formatted(weights, problem), null);
              });
      if (!path.toRealPath().startsWith(directory)) {
        throw refused(
            file,
            "its weights are in %s, a link to a file elsewhere; copy that file in its place"
                .formatted(weights),
            null);
      }
    } catch (InvalidPathException e) {
      throw refused(file, "its weights are in a file without a name", e);
    }
  }

  static EngineException refused(Path file, String reason, Throwable cause) {
    return new EngineException("%s can't be loaded as ONNX: %s".formatted(file, reason), cause);
  }

  private boolean graph(int field) throws IOException {
    return switch (field) {
      case 1 -> {
        int before = graphs;
        var node = new Node(new ArrayList<>(), new ArrayList<>(), false);
        node(node);
        if (keepsNodes) {
          nodes.add(new Node(node.inputs, node.outputs, graphs > before));
        }
        yield true;
      }
      case 5 -> tensor(true);
      case 11 -> value(true);
      case 12 -> value(false);
      default -> innerGraph(field);
    };
  }

  /// The graph of a branch, a loop or a function has inputs of its own.
  private boolean innerGraph(int field) throws IOException {
    return switch (field) {
      case 1 -> node(new Node(new ArrayList<>(), new ArrayList<>(), false));
      case 5 -> tensor(false);
      case 15 -> message(this::sparseTensor);
      default -> false;
    };
  }

  private boolean function() throws IOException {
    var name = new String[] {"", ""};
    cost.beginFunction();
    message(
        field ->
            switch (field) {
              case 1 -> {
                name[1] = text();
                yield true;
              }
              case 10 -> {
                name[0] = text();
                yield true;
              }
              case 7 -> node(new Node(new ArrayList<>(), new ArrayList<>(), false));
              case 11 -> message(this::attribute);
              default -> false;
            });
    cost.endFunction(keep(name[0] + ":" + name[1]));
    return true;
  }

  /// @param node gets the names of its inputs and outputs where nodes are kept
  private boolean node(Node node) throws IOException {
    var count = new int[1];
    var last = new int[1];
    var type = new String[] {"", ""};
    message(
        field ->
            switch (field) {
              case 1 -> {
                count[0]++;
                last[0] = input(node);
                yield true;
              }
              case 2 -> keepsNodes && node.outputs.add(keep(text()));
              case 4 -> {
                type[1] = text();
                yield true;
              }
              case 5 -> message(this::attribute);
              case 7 -> {
                type[0] = text();
                yield true;
              }
              default -> false;
            });
    scalesBatches |= type[1].startsWith("DynamicQuantize");
    hasZeroPoints &=
        switch (type[1]) {
          case "MatMulInteger" -> count[0] == 4 && last[0] > 0;
          case "DynamicQuantizeLinear", "DequantizeLinear", "QuantizeLinear" -> true;
          default -> !INTEGERS.matcher(type[1]).find();
        };
    var called = type[0] + ":" + type[1];
    if (cost.add(called)) {
      keep(called);
    }
    return true;
  }

  /// The length of its name.
  private int input(Node node) throws IOException {
    if (keepsNodes) {
      node.inputs.add(keep(text()));
      return node.inputs.getLast().length();
    }
    if (wanted.isEmpty()) {
      int size = in.readRawVarint32();
      in.skipRawBytes(size);
      return size;
    }
    var name = text();
    use(name);
    return name.length();
  }

  private void use(String name) {
    if (wanted.contains(name)) {
      used.add(name);
    }
  }

  /// A text that is not kept.
  private String text() throws IOException {
    int size = in.readRawVarint32();
    if (size < 0 || size > LONGEST_TEXT) {
      throw new TooMuchException(
          "found a name of %d bytes, expected at most %d".formatted(size, LONGEST_TEXT));
    }
    return new String(in.readRawBytes(size), StandardCharsets.UTF_8);
  }

  private String keep(String text) throws IOException {
    keep(text.length());
    return text;
  }

  private void keep(int size) throws IOException {
    kept += size + ENTRY;
    if (kept > MOST_KEPT) {
      throw new TooMuchException(
          "its names and shapes take more than %d MB of the heap; raise -Xmx in JAVA_OPTS"
              .formatted(MOST_KEPT >> 20));
    }
  }

  private boolean attribute(int field) throws IOException {
    return switch (field) {
      case 5, 10 -> tensor(false);
      case 6, 11 -> {
        graphs++;
        cost.beginGraph();
        message(this::innerGraph);
        cost.endGraph();
        yield true;
      }
      case 22, 23 -> message(this::sparseTensor);
      default -> false;
    };
  }

  private boolean sparseTensor(int field) throws IOException {
    return (field == 1 || field == 2) && tensor(false);
  }

  /// Its `external_data` is a list of keys and values.
  ///
  /// @param ofModel whether it is an initializer of the model's own graph
  private boolean tensor(boolean ofModel) throws IOException {
    var name = new String[] {""};
    var type = new OnnxType[] {OnnxType.OTHER};
    var shape = new ArrayList<Long>();
    var place = new HashMap<String, String>();
    message(
        field ->
            switch (field) {
              case -1 -> length(shape);
              case 1 -> packed(shape);
              case -2 -> {
                type[0] = OnnxType.of(in.readInt32());
                yield true;
              }
              case 8 -> {
                name[0] = text();
                yield true;
              }
              case 13 -> entry(place);
              default -> false;
            });
    halves += type[0] == OnnxType.FLOAT16 ? 1 : type[0] == OnnxType.FLOAT32 ? -1 : 0;
    if (ofModel) {
      initialized.add(keep(name[0]));
    }
    if (place.containsKey("location")) {
      var location = place.get("location");
      externals++;
      weights.add(keep(location));
      if (ofModel) {
        external.add(new External(name[0], type[0], shape, location, offset(place)));
      }
    }
    return true;
  }

  private boolean packed(List<Long> numbers) throws IOException {
    int end = in.pushLimit(in.readRawVarint32());
    while (in.getBytesUntilLimit() > 0) {
      length(numbers);
    }
    in.popLimit(end);
    return true;
  }

  private boolean length(List<Long> numbers) throws IOException {
    keep(0);
    return numbers.add(in.readInt64());
  }

  private boolean entry(Map<String, String> place) throws IOException {
    var entry = new String[] {"", ""};
    message(
        part -> {
          if (part == 1 || part == 2) {
            entry[part - 1] = text();
            return true;
          }
          return false;
        });
    place.put(entry[0], entry[1]);
    return true;
  }

  /// Where there is none, the tensor begins with its file.
  private static long offset(Map<String, String> place) {
    try {
      return Long.parseLong(place.getOrDefault("offset", "0"));
    } catch (NumberFormatException _) {
      return -1;
    }
  }

  /// An input or an output: its name, and the type and the shape of a tensor.
  private boolean value(boolean isInput) throws IOException {
    var name = new String[] {""};
    var type = new int[1];
    var isOptional = new boolean[1];
    var found = new ArrayList<List<Integer>>();
    var called = new ArrayList<String>();
    message(
        field ->
            switch (field) {
              case 1 -> {
                name[0] = keep(text());
                yield true;
              }
              case 2 ->
                  message(
                      kind -> {
                        isOptional[0] |= kind == 9;
                        return kind == 1 && message(part -> tensorType(part, type, found, called));
                      });
              default -> false;
            });
    if (isOptional[0]) {
      optional.add("%s %s".formatted(isInput ? "input" : "output", name[0]));
    }
    if (isInput) {
      inputs.put(name[0], type[0]);
    } else {
      outputs.add(name[0]);
      use(name[0]);
      if (OnnxType.of(type[0]) == OnnxType.STRING) {
        texts.add(name[0]);
      }
    }
    for (var shape : found) {
      shapes.put(name[0], List.copyOf(shape));
      symbols.put(name[0], List.copyOf(called));
    }
    return true;
  }

  private boolean tensorType(int field, int[] type, List<List<Integer>> found, List<String> called)
      throws IOException {
    return switch (field) {
      case -1 -> {
        type[0] = in.readInt32();
        yield true;
      }
      case 2 -> {
        var shape = new ArrayList<Integer>();
        found.add(shape);
        yield message(part -> part == 1 && dimension(shape, called));
      }
      default -> false;
    };
  }

  private boolean dimension(List<Integer> shape, List<String> called) throws IOException {
    keep(0);
    shape.add(-1);
    called.add("");
    return message(
        field ->
            switch (field) {
              case -1 -> {
                shape.set(shape.size() - 1, (int) in.readInt64());
                yield true;
              }
              case 2 -> {
                called.set(called.size() - 1, keep(text()));
                yield true;
              }
              default -> false;
            });
  }

  private boolean message(Field field) throws IOException {
    if (++depth > DEEPEST) {
      throw new InvalidProtocolBufferException("nested too deeply");
    }
    int end = in.pushLimit(in.readRawVarint32());
    fields(field);
    if (in.getBytesUntilLimit() != 0) {
      throw new InvalidProtocolBufferException("the file ends in the middle");
    }
    in.popLimit(end);
    depth--;
    return true;
  }

  private void fields(Field field) throws IOException {
    for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
      int number = WireFormat.getTagFieldNumber(tag);
      boolean isRead =
          switch (WireFormat.getTagWireType(tag)) {
            case WireFormat.WIRETYPE_LENGTH_DELIMITED -> field.read(number);
            case WireFormat.WIRETYPE_VARINT -> field.read(-number);
            default -> false;
          };
      if (!isRead && !in.skipField(tag)) {
        throw new InvalidProtocolBufferException("the end of what has not begun");
      }
    }
  }
}
