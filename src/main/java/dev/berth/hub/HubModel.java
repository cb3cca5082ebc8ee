package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.artifact.ArtifactFile;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.engine.Engine;
import dev.berth.engine.GraphNames;
import dev.berth.handler.task.RowModel;
import dev.berth.json.JsonText;
import dev.berth.tokenizer.Encoding;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Truncation;
import dev.berth.tokenizer.Vocabulary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.IntStream;
import java.util.stream.LongStream;

/// A model in a directory of Hugging Face, or in a snapshot of its cache: one of its ONNX files,
/// and what `model.json` says of that. It says the same as `trace.py`.
///
/// @param file the one that is taken
/// @param weights the files that hold its weights, relative to it
/// @param description what `model.json` says
/// @param reasons what was chosen and why, a line each
public record HubModel(
    Path directory, Path file, List<String> weights, ObjectNode description, List<String> reasons) {

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

  /// Their first positions, up to the padding id, belong to the padding.
  private static final Set<String> POSITIONS_BEHIND_PADDING =
      Set.of(
          "roberta",
          "xlm-roberta",
          "xlm-roberta-xl",
          "roberta-prelayernorm",
          "camembert",
          "mpnet",
          "longformer",
          "data2vec-text",
          "xmod",
          "luke");

  /// Of a model that says nothing of it.
  private static final int USUAL_LONGEST = 512;

  /// No spaces and no punctuation: Japanese, Chinese.
  private static final List<String> UNSPACED_SENTENCES = List.of("東京は日本の首都です", "北京是中国的首都");

  private static final Set<Character.UnicodeScript> WRITTEN_WITHOUT_SPACES =
      Set.of(
          Character.UnicodeScript.HAN,
          Character.UnicodeScript.HIRAGANA,
          Character.UnicodeScript.KATAKANA,
          Character.UnicodeScript.THAI,
          Character.UnicodeScript.LAO,
          Character.UnicodeScript.KHMER,
          Character.UnicodeScript.MYANMAR,
          Character.UnicodeScript.TIBETAN);

  /// @param asked the ONNX file to take, where somebody has named one
  /// @throws ModelArtifactException when it can't be served
  public static HubModel open(Path directory, Optional<Path> asked) {
    return new Reader(directory, asked.orElseGet(() -> OnnxFiles.main(directory))).read();
  }

  static boolean isOfPictures(Path directory) {
    try {
      return Files.readString(directory.resolve("config.json")).contains("ForImageClassification");
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

    private final Path directory;
    private final Path file;
    private final GraphNames names;
    private final JsonNode config;
    private final List<String> reasons = new ArrayList<>();

    Reader(Path directory, Path file) {
      this.directory = directory;
      this.file = file;
      this.config = json("config.json");
      ArtifactFile.problem(file)
          .ifPresent(
              problem -> {
                throw refused("%s: %s".formatted(name(), problem));
              });
      this.names =
          Engine.ALL.stream()
              .filter(engine -> engine.reads(file))
              .map(engine -> engine.names(file))
              .findFirst()
              .orElse(GraphNames.UNKNOWN);
      if (names.inputs().isEmpty()) {
        throw refused(
            "%s: found no ONNX model, or only the beginning of one; download it again%s"
                .formatted(name(), file.toFile().length() < 1000 ? ", with git lfs pull" : ""));
      }
    }

    HubModel read() {
      var task = task();
      var precision = OnnxFiles.precision(file).orElse("fp32");
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
      return new HubModel(directory, file, names.weights(), json, reasons);
    }

    private String name() {
      return file.startsWith(directory) ? directory.relativize(file).toString() : file.toString();
    }

    /// A snapshot's own name is a hash.
    private String model() {
      var path = directory.toAbsolutePath().normalize();
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
      boolean hasModules = Files.exists(directory.resolve("modules.json"));
      boolean isPooled = hasModules && (isHeadless || architecture.endsWith("ForMaskedLM"));
      if (isPooled || (isHeadless && hasTokenizer())) {
        reasons.add(
            "task: %s, by %s".formatted(EMBEDDINGS, hasModules ? "modules.json" : architecture));
        return EMBEDDINGS;
      }
      var task =
          TASKS.entrySet().stream().filter(end -> architecture.endsWith(end.getKey())).findFirst();
      if (task.isEmpty()) {
        throw refused(
            "config.json: architectures: found %s, expected one that ends with %s or Model; serve it by hooks, docs/hooks.md"
                .formatted(config.path("architectures"), String.join(", ", TASKS.keySet())));
      }
      reasons.add("task: %s, by %s".formatted(task.get().getValue(), architecture));
      return task.get().getValue();
    }

    private boolean hasTokenizer() {
      return Files.exists(directory.resolve("tokenizer.json"));
    }

    /// The names that the file has for what the task needs.
    private List<String> outputs(String task, ObjectNode json) {
      var all = names.outputs();
      if (task.equals(QUESTIONS)) {
        var start = named("start");
        var end = named("end");
        if (start.isPresent() && end.isPresent()) {
          return List.of(start.get(), end.get());
        }
        if (all.size() == 2) {
          return all;
        }
        throw refused(
            "%s: found the outputs %s, expected start_logits and end_logits"
                .formatted(name(), all));
      }
      if (task.equals(EMBEDDINGS)) {
        return List.of(vectors(json));
      }
      return List.of(
          named("logits")
              .or(() -> all.stream().filter(_ -> all.size() == 1).findFirst())
              .orElseThrow(
                  () ->
                      refused("%s: found the outputs %s, expected logits".formatted(name(), all))));
    }

    private Optional<String> named(String beginning) {
      return names.outputs().stream().filter(name -> name.startsWith(beginning)).findFirst();
    }

    /// The output of vectors, and what becomes of those of tokens.
    private String vectors(ObjectNode json) {
      var whole = named("sentence_embedding");
      if (whole.isPresent()) {
        reasons.add("pooling: none, as the file has the output sentence_embedding");
        return whole.get();
      }
      var steps = pooling();
      json.set("pooling", JsonText.tree(steps));
      reasons.add("pooling: " + String.join(", ", steps));
      var all = names.outputs();
      return named("last_hidden_state")
          .or(() -> named("token_embeddings"))
          .or(() -> all.stream().filter(_ -> all.size() == 1).findFirst())
          .orElseThrow(
              () ->
                  refused(
                      "%s: found the outputs %s, expected last_hidden_state or sentence_embedding"
                          .formatted(name(), all)));
    }

    /// As sentence-transformers does: without its files the mean of the tokens.
    private List<String> pooling() {
      var steps = new ArrayList<String>();
      boolean normalises = false;
      for (var module : json("modules.json")) {
        var type = module.path("type").asText().replaceFirst(".*\\.", "");
        switch (type) {
          case "Transformer" -> {}
          case "Pooling" ->
              steps.addAll(modes(json(module.path("path").asText() + "/config.json")));
          case "Normalize" -> normalises = true;
          default ->
              throw refused(
                  "modules.json: found %s, expected Transformer, Pooling or Normalize; export the model with its output sentence_embedding, or use trace.py"
                      .formatted(type));
        }
      }
      if (steps.isEmpty()) {
        steps.add("mean");
      }
      if (normalises) {
        steps.add("normalize");
      }
      return steps;
    }

    private static List<String> modes(JsonNode config) {
      var named = config.path("pooling_mode");
      if (named.isArray()) {
        return named.valueStream().map(JsonNode::asText).toList();
      }
      if (named.isTextual()) {
        return List.of(named.asText());
      }
      return config.properties().stream()
          .filter(
              field -> field.getKey().startsWith("pooling_mode_") && field.getValue().asBoolean())
          .map(field -> field.getKey().replaceFirst("pooling_mode_", ""))
          .map(
              mode ->
                  mode.equals("mean_sqrt_len_tokens") ? mode : mode.replaceFirst("_tokens?$", ""))
          .toList();
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

    /// What it says of a model that takes rows of tokens.
    private void rows(String task, ObjectNode json) {
      if (!RowModel.INPUTS.containsAll(names.inputs())) {
        throw refused(
            "%s: found the inputs %s, expected some of %s; export it for its task, without a cache"
                .formatted(name(), names.inputs(), RowModel.INPUTS));
      }
      if (!hasTokenizer()) {
        throw refused(
            "tokenizer.json: not found; save it beside the model with AutoTokenizer.from_pretrained(…).save_pretrained(…), or use trace.py, which makes one");
      }
      int longest = longest(task);
      var shape = names.shapes().getOrDefault(names.inputs().getFirst(), List.of());
      int batch = shape.isEmpty() ? -1 : shape.getFirst();
      int sequence = shape.size() < 2 ? -1 : shape.get(1);
      if (sequence > 0) {
        json.put("shapes", "compiled");
        file(json).put("batch", Math.max(1, batch)).put("sequence", sequence);
        longest = sequence;
      } else {
        json.put("shapes", "dynamic");
        file(json);
      }
      json.put("maxSequenceLength", longest);
      reasons.add(
          sequence > 0
              ? "rows: padded to %d tokens, as the file takes no others".formatted(sequence)
              : "rows: of up to %d tokens".formatted(longest));
      try (var tokenizer = Tokenizer.load(directory)) {
        json.set("pair", pair(tokenizer.encode("question", "context", Truncation.NONE)));
        if (task.equals(QUESTIONS)
            && isOfUnspacedScripts(Vocabulary.read(directory.resolve("tokenizer.json")))
            && UNSPACED_SENTENCES.stream().anyMatch(text -> isOneWord(tokenizer, text))) {
          json.putObject("parameters").put("align_to_words", false);
        }
      } catch (IOException e) {
        throw refused(e.getMessage());
      }
    }

    private ObjectNode file(ObjectNode json) {
      return json.putArray("files").addObject().put("path", name());
    }

    private int longest(String task) {
      int positions = config.path("max_position_embeddings").asInt(USUAL_LONGEST);
      if (POSITIONS_BEHIND_PADDING.contains(config.path("model_type").asText())) {
        positions -= config.path("pad_token_id").asInt(1) + 1;
      }
      var limits = LongStream.builder().add(positions);
      limits.add(json("tokenizer_config.json").path("model_max_length").asLong(positions));
      if (task.equals(EMBEDDINGS)) {
        limits.add(json("sentence_bert_config.json").path("max_seq_length").asLong(positions));
      }
      return (int) limits.build().filter(limit -> limit > 0).min().orElseThrow();
    }

    /// The special tokens around a question and its context, read off a pair.
    private ObjectNode pair(Encoding row) {
      var sequences = Arrays.stream(row.sequences()).boxed().toList();
      int question = sequences.indexOf(0);
      int context = sequences.indexOf(1);
      if (question < 0 || context < question) {
        throw refused("tokenizer.json: a pair is not encoded as question, then context");
      }
      var ids = Arrays.stream(row.ids()).boxed().toList();
      return JsonNodeFactory.instance
          .objectNode()
          .<ObjectNode>set("before", JsonText.tree(ids.subList(0, question)))
          .<ObjectNode>set(
              "between", JsonText.tree(ids.subList(sequences.lastIndexOf(0) + 1, context)))
          .<ObjectNode>set(
              "after", JsonText.tree(ids.subList(sequences.lastIndexOf(1) + 1, ids.size())))
          .put("padding", config.path("pad_token_id").asLong(0))
          .put("questionType", row.typeIds()[question])
          .put("contextType", row.typeIds()[context]);
    }

    /// Answers are widened to whole words. Many tokenizers take an unspaced sentence for one.
    private static boolean isOneWord(Tokenizer tokenizer, String text) {
      return Arrays.stream(tokenizer.tokens(text).words()).distinct().count() == 1;
    }

    private static boolean isOfUnspacedScripts(Vocabulary vocabulary) {
      var letters =
          IntStream.range(0, vocabulary.size())
              .mapToObj(vocabulary::token)
              .flatMapToInt(String::codePoints)
              .filter(Character::isLetter)
              .toArray();
      long unspaced =
          Arrays.stream(letters)
              .filter(letter -> WRITTEN_WITHOUT_SPACES.contains(Character.UnicodeScript.of(letter)))
              .count();
      return unspaced * 2 > letters.length;
    }

    private void picture(ObjectNode json) {
      if (names.inputs().size() != 1) {
        throw refused(
            "%s: found the inputs %s, expected the pixels alone".formatted(name(), names.inputs()));
      }
      if (!Files.exists(directory.resolve(PictureSteps.FILE))) {
        throw refused(PictureSteps.FILE + ": not found, expected what becomes of a picture");
      }
      json.set("image", new PictureSteps(json(PictureSteps.FILE)).described());
      reasons.add("pictures: " + json.path("image"));
      int batch = names.shapes().getOrDefault(names.inputs().getFirst(), List.of(-1)).getFirst();
      json.put("shapes", batch > 0 ? "compiled" : "dynamic");
      var entry = file(json);
      if (batch > 0) {
        entry.put("batch", batch);
      }
    }

    private JsonNode json(String name) {
      var path = directory.resolve(name);
      if (!Files.exists(path)) {
        return MissingNode.getInstance();
      }
      try {
        return JsonText.read(path);
      } catch (IOException e) {
        throw refused("%s: %s".formatted(name, e.getMessage()));
      }
    }

    private ModelArtifactException refused(String problem) {
      return new ModelArtifactException(directory, List.of(problem));
    }
  }
}
