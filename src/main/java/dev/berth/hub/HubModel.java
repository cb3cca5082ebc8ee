package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.artifact.ArtifactFile;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.engine.Engine;
import dev.berth.engine.GraphNames;
import dev.berth.handler.task.RowModel;
import dev.berth.json.JsonText;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A model in a directory of Hugging Face, or in a snapshot of its cache: one of its ONNX files,
/// and what `model.json` says of that. It says the same as `trace.py`.
///
/// @param file the one that is taken
/// @param weights the files that hold its weights, relative to it
/// @param description what `model.json` says
/// @param reasons what was chosen and why, a line each
/// @param warnings what its files say that is not done, or do not say, a line each
public record HubModel(
    Path directory,
    Path file,
    List<String> weights,
    ObjectNode description,
    List<String> reasons,
    List<String> warnings) {

  private static final String QUESTIONS = "question-answering";
  private static final String TEXTS = "text-classification";
  private static final String EMBEDDINGS = "sentence-embeddings";
  private static final String PICTURES = "image-classification";

  /// Tasks by how the names of their models end.
  private static final Map<String, String> TASKS = new LinkedHashMap<>();

  static {
    TASKS.put("ForQuestionAnswering", QUESTIONS);
    TASKS.put("ForSequenceClassification", TEXTS);
    TASKS.put("ForTokenClassification", "token-classification");
    TASKS.put("ForMaskedLM", "fill-mask");
    TASKS.put("ForImageClassification", PICTURES);
  }

  /// @param asked the ONNX file to take, where somebody has named one
  /// @throws ModelArtifactException when it can't be served
  public static HubModel open(Path directory, Optional<Path> asked) {
    return new Reader(directory, asked.orElseGet(() -> OnnxFiles.main(directory))).read();
  }

  static boolean isOfPictures(Path directory) {
    try {
      return JsonText.read(directory.resolve("config.json"))
          .path("architectures")
          .toString()
          .contains("ForImageClassification");
    } catch (IOException _) {
      return false;
    }
  }

  /// The files in int8 for this CPU that may take the place of this one, the best first.
  public List<Path> lighter() {
    return OnnxFiles.precision(file).filter("fp32"::equals).isPresent()
        ? OnnxFiles.int8(OnnxFiles.in(directory))
        : List.of();
  }

  public String task() {
    return description.path("task").asText();
  }

  /// Reads one directory, once.
  private static final class Reader {

    private final HubDirectory directory;
    private final Path file;
    private final GraphNames names;
    private final JsonNode config;
    private final List<String> reasons = new ArrayList<>();
    private final List<String> warnings = new ArrayList<>();

    Reader(Path path, Path file) {
      this.directory = new HubDirectory(path);
      this.file = file;
      this.config = directory.json("config.json");
      ArtifactFile.problem(file)
          .ifPresent(
              problem -> {
                throw directory.refused("%s: %s".formatted(name(), problem));
              });
      this.names =
          Engine.ALL.stream()
              .filter(engine -> engine.reads(file))
              .map(engine -> engine.names(file))
              .findFirst()
              .orElse(GraphNames.UNKNOWN);
      if (names.inputs().isEmpty()) {
        throw directory.refused(
            "%s: found no ONNX model, or only the beginning of one; download it again%s"
                .formatted(name(), file.toFile().length() < 1000 ? ", with git lfs pull" : ""));
      }
    }

    HubModel read() {
      var task = task();
      var named = OnnxFiles.precision(file).orElse("fp32");
      var precision = named.equals("fp32") && names.isHalf() ? "fp16" : named;
      reasons.add(
          "file: %s, %s%s"
              .formatted(
                  name(),
                  precision,
                  precision.equals("int8") ? ", not compared with one in fp32" : ""));
      var json = JsonNodeFactory.instance.objectNode();
      json.put("format", 1).put("engine", "onnx").put("task", task);
      json.put("target", "cpu").put("precision", precision);
      json.set("inputs", JsonText.tree(names.inputs()));
      json.set("outputs", JsonText.tree(outputs(task, json)));
      if (task.equals(PICTURES)) {
        picture(json);
      } else {
        rows(task, json);
      }
      if (task.endsWith("classification")) {
        json.set("labels", JsonText.tree(labels(task, json)));
      }
      json.putObject("provenance")
          .put("model", model())
          .put("architecture", architecture())
          .put("file", name());
      return new HubModel(directory.path(), file, names.weights(), json, reasons, warnings);
    }

    private String name() {
      return file.startsWith(directory.path())
          ? directory.path().relativize(file).toString()
          : file.toString();
    }

    /// A snapshot's own name is a hash.
    private String model() {
      var path = directory.path().toAbsolutePath().normalize();
      return path.getParent() != null && path.getParent().endsWith("snapshots")
          ? path.getName(path.getNameCount() - 3)
              .toString()
              .replaceFirst("models--", "")
              .replace("--", "/")
          : String.valueOf(path.getFileName());
    }

    private String architecture() {
      return config.path("architectures").path(0).asText();
    }

    private String task() {
      var architecture = architecture();
      boolean isHeadless = architecture.endsWith("Model") && !architecture.contains("Head");
      boolean hasModules = directory.has("modules.json");
      boolean isPooled = hasModules && (isHeadless || architecture.endsWith("ForMaskedLM"));
      if (isPooled || (isHeadless && directory.has(TokenRows.TOKENIZER))) {
        reasons.add(
            "task: %s, by %s".formatted(EMBEDDINGS, hasModules ? "modules.json" : architecture));
        return EMBEDDINGS;
      }
      var task =
          TASKS.entrySet().stream().filter(end -> architecture.endsWith(end.getKey())).findFirst();
      if (task.isEmpty()) {
        throw directory.refused(
            "config.json: architectures: found %s, expected one that ends with %s or Model; serve it by hooks, docs/hooks.md"
                .formatted(config.path("architectures"), String.join(", ", TASKS.keySet())));
      }
      reasons.add("task: %s, by %s".formatted(task.get().getValue(), architecture));
      return task.get().getValue();
    }

    /// The names that the file has for what the task needs.
    private List<String> outputs(String task, ObjectNode json) {
      if (task.equals(QUESTIONS)) {
        var all = names.outputs();
        var ends = Stream.of("start", "end").flatMap(name -> named(name).stream()).toList();
        if (ends.size() != 2 && all.size() != 2) {
          throw unknownOutputs("start_logits and end_logits");
        }
        return ends.size() == 2 ? ends : all;
      }
      return List.of(
          task.equals(EMBEDDINGS)
              ? vectors(json)
              : named("logits").or(this::only).orElseThrow(() -> unknownOutputs("logits")));
    }

    private Optional<String> only() {
      return names.outputs().stream().filter(_ -> names.outputs().size() == 1).findFirst();
    }

    private ModelArtifactException unknownOutputs(String expected) {
      return directory.refused(
          "%s: found the outputs %s, expected %s".formatted(name(), names.outputs(), expected));
    }

    private Optional<String> named(String beginning) {
      return names.outputs().stream().filter(name -> name.startsWith(beginning)).findFirst();
    }

    /// The output of vectors, and what becomes of those of tokens.
    private String vectors(ObjectNode json) {
      var whole = named("sentence_embedding");
      var steps = new SentenceFiles(directory, warnings).describe(json, whole.isPresent());
      if (whole.isPresent()) {
        reasons.add("pooling: none, as the file has the output sentence_embedding");
        return whole.get();
      }
      reasons.add("pooling: " + String.join(", ", steps));
      return named("last_hidden_state")
          .or(() -> named("token_embeddings"))
          .or(this::only)
          .orElseThrow(() -> unknownOutputs("last_hidden_state or sentence_embedding"));
    }

    private List<String> labels(String task, ObjectNode json) {
      var named = config.path("id2label");
      int count = named.isEmpty() ? config.path("num_labels").asInt(2) : named.size();
      var labels =
          IntStream.range(0, count)
              .mapToObj(i -> named.path(String.valueOf(i)).asText("LABEL_" + i))
              .toList();
      reasons.add(
          "labels: %d, %s%s"
              .formatted(
                  count,
                  String.join(", ", labels.subList(0, Math.min(3, count))),
                  count > 3 ? ", …" : ""));
      if (!task.equals("token-classification")) {
        var problem = config.path("problem_type").asText();
        var function =
            problem.equals("regression") && task.equals(TEXTS)
                ? "none"
                : problem.equals("multi_label_classification") || count == 1
                    ? "sigmoid"
                    : "softmax";
        json.putObject("parameters").put("function_to_apply", function);
      }
      return labels;
    }

    private void rows(String task, ObjectNode json) {
      if (!RowModel.INPUTS.containsAll(names.inputs())) {
        throw directory.refused(
            "%s: found the inputs %s, expected some of %s; export it for its task, without a cache"
                .formatted(name(), names.inputs(), RowModel.INPUTS));
      }
      var rows = new TokenRows(directory, config);
      int longest = rows.longest(task.equals(EMBEDDINGS), warnings);
      int batch = dimension(0);
      int sequence = dimension(1);
      json.put("shapes", sequence > 0 ? "compiled" : "dynamic");
      var entry = file(json);
      if (sequence > 0) {
        entry.put("batch", Math.max(1, batch)).put("sequence", sequence);
        reasons.add("rows: padded to %d tokens, as the file takes no others".formatted(sequence));
      } else {
        reasons.add("rows: of up to %d tokens".formatted(longest));
      }
      json.put("maxSequenceLength", sequence > 0 ? sequence : longest);
      rows.describe(json, task.equals(QUESTIONS));
    }

    /// Of the first input; -1: any.
    private int dimension(int index) {
      var shape = names.shapes().getOrDefault(names.inputs().getFirst(), List.of());
      return index < shape.size() ? shape.get(index) : -1;
    }

    private ObjectNode file(ObjectNode json) {
      return json.putArray("files").addObject().put("path", name());
    }

    private void picture(ObjectNode json) {
      if (names.inputs().size() != 1) {
        throw directory.refused(
            "%s: found the inputs %s, expected the pixels alone".formatted(name(), names.inputs()));
      }
      json.set("image", new PictureSteps(directory).described());
      reasons.add("pictures: " + json.path("image"));
      int batch = dimension(0);
      json.put("shapes", batch > 0 ? "compiled" : "dynamic");
      var entry = file(json);
      if (batch > 0) {
        entry.put("batch", batch);
      }
    }
  }
}
