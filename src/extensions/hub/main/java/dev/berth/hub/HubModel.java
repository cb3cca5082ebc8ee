package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.artifact.ArtifactFile;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.engine.Engine;
import dev.berth.engine.GraphNames;
import dev.berth.handler.task.HubFiles;
import dev.berth.handler.task.HubTask;
import dev.berth.handler.task.RowModel;
import dev.berth.handler.task.Task;
import dev.berth.json.JsonText;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A model in a directory of Hugging Face, or in a snapshot of its cache: one of its files, and
/// what `model.json` says of that. It says the same as `trace.py`. Used by one thread.
final class HubModel implements HubFiles {

    private static final String CONFIG = "config.json";

    private final Path directory;
    private final Engine engine;
    private final GraphNames graph;
    private final JsonNode config;

    /// The one that is taken.
    final Path file;

    final HubTask task;

    /// What `model.json` says.
    final ObjectNode description = JsonNodeFactory.instance.objectNode();

    /// What was chosen and why, a line each.
    final List<String> reasons = new ArrayList<>();

    /// What its files say that is not done, or do not say, a line each.
    final List<String> warnings = new ArrayList<>();

    /// Reads the files of a directory.
    ///
    /// @param asked the file of the model to take, where somebody has named one
    /// @throws ModelArtifactException when it can't be served
    static HubModel open(Path directory, Optional<Path> asked) {
        return new HubModel(directory, asked.orElseGet(() -> ModelFiles.main(directory)));
    }

    private HubModel(Path directory, Path file) {
        this.directory = directory;
        this.file = file;
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
        this.task = chooseTask();
        describe();
    }

    /// Those that have a directory of the hub.
    static Stream<HubTask> tasks() {
        return Task.ALL.stream().filter(HubTask.class::isInstance).map(HubTask.class::cast);
    }

    private HubTask chooseTask() {
        for (var each : tasks().toList()) {
            var shown = each.shownBy(this);
            if (shown.isPresent()) {
                because("task: %s, by %s".formatted(each.name(), shown.get()));
                return each;
            }
        }
        throw refused(
                "config.json: architectures: found %s, expected one that ends with %s; serve it by hooks, docs/hooks.md"
                        .formatted(
                                config.path("architectures"),
                                tasks().map(HubTask::architecture)
                                        .collect(Collectors.joining(", "))
                                        .replaceFirst(", (\\w+)$", " or $1")));
    }

    private void describe() {
        var named = ModelFiles.precision(file).orElse("fp32");
        var precision = named.equals("fp32") && graph.isHalf() ? "fp16" : named;
        because("file: %s, %s%s"
                .formatted(fileName(), precision, precision.equals("int8") ? ", not compared with one in fp32" : ""));
        description.put("format", 1).put("engine", engine.name()).put("task", task.name());
        description.put("target", "cpu").put("precision", precision);
        description.set("inputs", JsonText.tree(graph.inputs()));
        task.describe(this, description);
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

    @Override
    public Path directory() {
        return directory;
    }

    @Override
    public String architecture() {
        return config.path("architectures").path(0).asText();
    }

    @Override
    public boolean has(String name) {
        return Files.exists(directory.resolve(name));
    }

    @Override
    public JsonNode json(String name) {
        if (!has(name)) {
            return MissingNode.getInstance();
        }
        try {
            return JsonText.read(directory.resolve(name));
        } catch (IOException e) {
            throw refused("%s: %s".formatted(name, e.getMessage()));
        }
    }

    @Override
    public GraphNames graph() {
        return graph;
    }

    @Override
    public void because(String reason) {
        reasons.add(reason);
    }

    @Override
    public ModelArtifactException refused(String problem) {
        return new ModelArtifactException(directory, problem);
    }

    @Override
    public void outputs(ObjectNode json, String expected, String... beginnings) {
        var all = graph.outputs();
        var found = Stream.of(beginnings).flatMap(name -> output(name).stream()).toList();
        if (found.size() != beginnings.length && all.size() != beginnings.length) {
            throw refused("%s: found the outputs %s, expected %s".formatted(fileName(), all, expected));
        }
        json.set("outputs", JsonText.tree(found.size() == beginnings.length ? found : all));
    }

    private Optional<String> output(String beginning) {
        return graph.outputs().stream()
                .filter(name -> name.startsWith(beginning))
                .findFirst();
    }

    @Override
    public void sentences(ObjectNode json) {
        boolean isPooled = output("sentence_embedding").isPresent();
        var steps = new SentenceFiles(this, warnings).describe(json, isPooled);
        because("pooling: "
                + (isPooled ? "none, as the file has the output sentence_embedding" : String.join(", ", steps)));
        outputs(
                json,
                "last_hidden_state or sentence_embedding",
                Stream.of("sentence_embedding", "last_hidden_state", "token_embeddings")
                        .filter(name -> output(name).isPresent())
                        .findFirst()
                        .orElse("last_hidden_state"));
        rows(json, true);
    }

    @Override
    public void rows(ObjectNode json) {
        rows(json, false);
    }

    private void rows(ObjectNode json, boolean isOfSentences) {
        if (!RowModel.INPUTS.containsAll(graph.inputs())) {
            throw refused("%s: found the inputs %s, expected some of %s; export it for its task, without a cache"
                    .formatted(fileName(), graph.inputs(), RowModel.INPUTS));
        }
        var rows = new TokenRows(this, config);
        int longest = rows.longest(isOfSentences, warnings);
        int sequence = dimension(1);
        var entry = shapes(json, sequence > 0);
        if (sequence > 0) {
            entry.put("batch", Math.max(1, dimension(0))).put("sequence", sequence);
            because("rows: padded to %d tokens, as the file takes no others".formatted(sequence));
        } else {
            because("rows: of up to %d tokens".formatted(longest));
        }
        json.put("maxSequenceLength", sequence > 0 ? sequence : longest);
        json.set("pair", rows.pair());
    }

    /// @return the only entry of `files`
    private ObjectNode shapes(ObjectNode json, boolean areCompiled) {
        json.put("shapes", areCompiled ? "compiled" : "dynamic");
        return json.putArray("files").addObject().put("path", fileName());
    }

    /// Of the first input; -1: any.
    private int dimension(int index) {
        var shape = graph.shapes().getOrDefault(graph.inputs().getFirst(), List.of());
        return index < shape.size() ? shape.get(index) : -1;
    }

    @Override
    public void pictures(ObjectNode json) {
        if (graph.inputs().size() != 1) {
            throw refused("%s: found the inputs %s, expected the pixels alone".formatted(fileName(), graph.inputs()));
        }
        json.set("image", new PictureSteps(this).described());
        because("pictures: " + json.path("image"));
        int batch = dimension(0);
        var entry = shapes(json, batch > 0);
        if (batch > 0) {
            entry.put("batch", batch);
        }
    }

    @Override
    public List<String> labels(ObjectNode json) {
        var named = config.path("id2label");
        int count = named.isEmpty() ? config.path("num_labels").asInt(2) : named.size();
        var labels = IntStream.range(0, count)
                .mapToObj(i -> named.path(String.valueOf(i)).asText("LABEL_" + i))
                .toList();
        because("labels: %d, %s%s"
                .formatted(count, String.join(", ", labels.subList(0, Math.min(3, count))), count > 3 ? ", …" : ""));
        json.set("labels", JsonText.tree(labels));
        return labels;
    }

    @Override
    public boolean isUnspaced() {
        return new TokenRows(this, config).isUnspaced();
    }
}
