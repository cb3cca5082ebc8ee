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
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A model in a directory of Hugging Face, or in a snapshot of its cache: one of its files, and
/// what `model.json` says of that, in the words of `trace.py`. Used by one thread.
final class HubModel {

    static final String CONFIG = "config.json";

    final Path directory;

    /// The one that is taken.
    final Path file;

    /// What that says of itself.
    final GraphNames graph;

    /// What `model.json` says. [HubTask] has the steps below write it.
    final ObjectNode description = JsonNodeFactory.instance.objectNode();

    /// What was chosen and why, a line each.
    final List<String> reasons = new ArrayList<>();

    /// What its files say that is not done, or do not say, a line each.
    final List<String> warnings = new ArrayList<>();

    private final Engine engine;
    private final JsonNode config;

    /// Reads the files of a directory.
    ///
    /// @param asked the file of the model to take, where somebody has named one
    /// @throws ModelArtifactException when it can't be served
    HubModel(Path directory, Optional<Path> asked) {
        this.directory = directory;
        this.file = asked.orElseGet(() -> ModelFiles.main(directory));
        this.config = json(CONFIG);
        ArtifactFile.problem(file).ifPresent(problem -> {
            throw refused("%s: %s".formatted(fileName(), problem));
        });
        var found = ModelFiles.engine(file);
        this.graph = found.map(engine -> engine.names(file)).orElse(GraphNames.UNKNOWN);
        if (graph.inputs().isEmpty()) {
            throw refused("%s: found no ONNX model, or only the beginning of one; download it again%s"
                    .formatted(fileName(), file.toFile().length() < 1000 ? ", with git lfs pull" : ""));
        }
        this.engine = found.orElseThrow();
    }

    /// Writes what is said of models of all tasks.
    void describe(String task) {
        var named = ModelFiles.precision(file).orElse("fp32");
        var precision = named.equals("fp32") && graph.isHalf() ? "fp16" : named;
        reasons.add("file: %s, %s%s"
                .formatted(fileName(), precision, precision.equals("int8") ? ", not compared with one in fp32" : ""));
        description.put("format", 1).put("engine", engine.name()).put("task", task);
        description.put("target", "cpu").put("precision", precision);
        description.set("inputs", JsonText.tree(graph.inputNames()));
        description
                .putObject("provenance")
                .put("model", name())
                .put("architecture", architecture())
                .put("file", fileName());
    }

    /// A snapshot's own name is a hash.
    private String name() {
        var path = directory.toAbsolutePath().normalize();
        return path.getParent() != null && path.getParent().endsWith("snapshots")
                ? path.getName(path.getNameCount() - 3)
                        .toString()
                        .replaceFirst("models--", "")
                        .replace("--", "/")
                : String.valueOf(path.getFileName());
    }

    private String fileName() {
        return file.startsWith(directory) ? directory.relativize(file).toString() : file.toString();
    }

    /// What its file is called in an artifact.
    String nameInArtifact() {
        return "model." + engine.hubFormat().orElseThrow();
    }

    /// The files in int8 for this CPU that may take the place of this one, the best first.
    List<Path> lighter() {
        return ModelFiles.precision(file).filter("fp32"::equals).isPresent()
                ? ModelFiles.int8(ModelFiles.in(directory))
                : List.of();
    }

    /// As `config.json` names it.
    String architecture() {
        return config.path("architectures").path(0).asText();
    }

    boolean has(String name) {
        return Files.exists(directory.resolve(name));
    }

    /// A file of JSON; a missing node where there is none.
    JsonNode json(String name) {
        if (!has(name)) {
            return MissingNode.getInstance();
        }
        try {
            return JsonText.read(directory.resolve(name));
        } catch (IOException e) {
            throw refused("%s: %s".formatted(name, e.getMessage()));
        }
    }

    /// The exception of a model that can't be served.
    ModelArtifactException refused(String problem) {
        return new ModelArtifactException(directory, problem);
    }

    /// Writes `outputs`: those whose names begin so, or all where the model has just as many.
    ///
    /// @param expected what a message calls them
    void outputs(String expected, String... beginnings) {
        var all = graph.outputNames();
        var found = Stream.of(beginnings).flatMap(name -> output(name).stream()).toList();
        if (found.size() != beginnings.length && all.size() != beginnings.length) {
            throw refused("%s: found the outputs %s, expected %s".formatted(fileName(), all, expected));
        }
        description.set("outputs", JsonText.tree(found.size() == beginnings.length ? found : all));
    }

    private Optional<String> output(String beginning) {
        return graph.outputNames().stream()
                .filter(name -> name.startsWith(beginning))
                .findFirst();
    }

    /// Writes `outputs` of vectors, what is made of those, and rows of tokens of whole sentences.
    void sentences() {
        boolean isPooled = output("sentence_embedding").isPresent();
        var steps = new SentenceFiles(this, warnings).describe(description, isPooled);
        reasons.add("pooling: "
                + (isPooled ? "none, as the file has the output sentence_embedding" : String.join(", ", steps)));
        outputs(
                "last_hidden_state or sentence_embedding",
                Stream.of("sentence_embedding", "last_hidden_state", "token_embeddings")
                        .filter(name -> output(name).isPresent())
                        .findFirst()
                        .orElse("last_hidden_state"));
        rows(true);
    }

    /// Writes `outputs` of weights of tokens, and rows of tokens of whole texts.
    void weights() {
        boolean isPooled = output("sparse_embedding").isPresent();
        if (!isPooled) {
            SentenceFiles.checkSparse(this);
        }
        if (SentenceFiles.transformer(this).path("do_lower_case").asBoolean()) {
            description.put("lowerCase", true);
        }
        reasons.add(
                "pooling: " + (isPooled ? "none, as the file has the output sparse_embedding" : "max of the logits"));
        outputs("logits or sparse_embedding", isPooled ? "sparse_embedding" : "logits");
        rows(true);
    }

    /// Writes how texts become rows of tokens, and in which shapes.
    void rows() {
        rows(false);
    }

    private void rows(boolean isOfSentences) {
        if (!RowModel.INPUTS.containsAll(graph.inputNames())) {
            throw refused("%s: found the inputs %s, expected some of %s; export it for its task, without a cache"
                    .formatted(fileName(), graph.inputNames(), RowModel.INPUTS));
        }
        var rows = new TokenRows(this, config);
        int longest = rows.longest(isOfSentences, warnings);
        int sequence = dimension(1);
        var entry = shapes(sequence > 0);
        if (sequence > 0) {
            entry.put("batch", Math.max(1, dimension(0))).put("sequence", sequence);
            reasons.add("rows: padded to %d tokens, as the file takes no others".formatted(sequence));
        } else {
            reasons.add("rows: of up to %d tokens".formatted(longest));
        }
        description.put("maxSequenceLength", sequence > 0 ? sequence : longest);
        description.putObject("pair").put("padding", rows.padding());
    }

    /// @return the only entry of `files`
    private ObjectNode shapes(boolean areCompiled) {
        description.put("shapes", areCompiled ? "compiled" : "dynamic");
        return description.putArray("files").addObject().put("path", fileName());
    }

    /// Of the first input; -1: any.
    private int dimension(int index) {
        var shape = graph.inputs().getFirst().shape().orElse(List.of());
        return index < shape.size() ? shape.get(index) : -1;
    }

    /// Writes how a picture is prepared, and how many pictures the model takes at once.
    void pictures() {
        if (graph.inputs().size() != 1) {
            throw refused(
                    "%s: found the inputs %s, expected the pixels alone".formatted(fileName(), graph.inputNames()));
        }
        description.set("image", new PictureSteps(this).described());
        reasons.add("pictures: " + description.path("image"));
        int batch = dimension(0);
        var entry = shapes(batch > 0);
        if (batch > 0) {
            entry.put("batch", batch);
        }
    }

    /// Writes `labels`.
    ///
    /// @return how many there are
    int labels() {
        var named = config.path("id2label");
        int count = named.isEmpty() ? config.path("num_labels").asInt(2) : named.size();
        var labels = IntStream.range(0, count)
                .mapToObj(i -> named.path(String.valueOf(i)).asText("LABEL_" + i))
                .toList();
        reasons.add("labels: %d, %s%s"
                .formatted(count, String.join(", ", labels.subList(0, Math.min(3, count))), count > 3 ? ", …" : ""));
        description.set("labels", JsonText.tree(labels));
        return count;
    }

    /// Whether its tokenizer takes a sentence without spaces for one word.
    boolean isUnspaced() {
        return new TokenRows(this, config).isUnspaced();
    }
}
