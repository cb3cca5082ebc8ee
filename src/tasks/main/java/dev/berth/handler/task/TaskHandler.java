package dev.berth.handler.task;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.TracedArtifact;
import dev.berth.content.BadRecords;
import dev.berth.content.ContentType.OfDocuments;
import dev.berth.content.ContentTypes;
import dev.berth.content.Documents;
import dev.berth.content.Instances;
import dev.berth.engine.Engine;
import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.engine.RowCheck;
import dev.berth.engine.SharedGraphs;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.Signature;
import dev.berth.hooks.Signature.Column;
import dev.berth.hooks.Tensor;
import dev.berth.tokenizer.Tokenizer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.BiFunction;
import java.util.function.Function;

/// A task, served by a model that `trace.py` has made: it reads inputs in any form, runs the model
/// on them and writes what it makes of the output. Its subclass says what an input is, and what is
/// answered.
///
/// @param <M> the model of one accelerator
/// @param <T> what the model gets of a record
/// @param <P> the parameters of the task
public abstract class TaskHandler<M, T, P> implements InferenceHandler<M, TaskRecord<T, P>, Object>, AutoCloseable {

    private static final List<MediaType> TYPES = ContentTypes.mediaTypes(OfDocuments.class);

    /// The form of the answer, which `inputFn` leaves with the request where that is one input alone.
    private static final String FORM = Instances.Form.class.getName();

    /// In fp16 and bf16, as [RowCheck#TOLERANCE]. bf16 moves logits by up to 6 % of the largest, and
    /// those of another row may be small.
    private static final double TOLERANCE_OF_HALVES = 0.25;

    private final TracedArtifact artifact;
    private final InputReader<P> reader;
    private final List<String> fields;
    private final List<Column> columns;
    private final List<SharedGraphs> files;
    private final BiFunction<Accelerator, List<Graph>, M> model;

    /// That of each accelerator, which its workers share. A model is not [AutoCloseable] itself,
    /// because only this handler knows when the last worker is gone.
    private final Map<Accelerator, M> models = new ConcurrentHashMap<>();

    private final Set<M> warm = ConcurrentHashMap.newKeySet();

    /// @param fields of an input as CSV
    /// @param columns of an answer as CSV
    /// @param model makes a model of a copy of each file of the artifact
    protected TaskHandler(
            TracedArtifact artifact,
            InputReader<P> reader,
            List<String> fields,
            List<Column> columns,
            BiFunction<Accelerator, List<Graph>, M> model) {
        this.artifact = artifact;
        this.reader = reader;
        this.fields = fields;
        this.columns = columns;
        this.files = artifact.modelFiles().stream().map(SharedGraphs::new).toList();
        this.model = model;
    }

    /// What the model gets of each input of a request, by a function for that request.
    ///
    /// A [dev.berth.hooks.BadInputException] says that the task can't use one.
    protected abstract Function<TaskInput<P>, T> reading();

    /// Runs each shape.
    ///
    /// @throws ModelArtifactException when the model answers what it must not
    protected abstract void warmUp(M model);

    /// What a request holds.
    protected Documents documents(InvocationRequest request) throws IOException {
        return ContentTypes.reading(request, OfDocuments.class).readDocuments(request, fields);
    }

    /// The inputs of a body, for a task that has more forms of a list, or of an input alone.
    ///
    /// @param name what messages call them
    protected JsonNode listed(JsonNode inputs, String name) {
        return inputs;
    }

    /// Whether the model answers the sample of the artifact well enough, where its response is not the
    /// one that is expected.
    ///
    /// @param expected the document of `sample-response.json`
    /// @param sample what `inputFn` has made of the sample, at least one record
    public boolean acceptsSample(JsonNode expected, List<TaskRecord<T, P>> sample, M model) {
        return false;
    }

    public final TracedArtifact artifact() {
        return artifact;
    }

    @Override
    public Optional<String> task() {
        return Optional.of(artifact.task());
    }

    @Override
    public List<MediaType> requestTypes() {
        return TYPES;
    }

    @Override
    public List<MediaType> responseTypes() {
        return TYPES;
    }

    /// The columns of CSV.
    @Override
    public Signature signature() {
        return new Signature(fields.stream().map(Column::ofTexts).toList(), columns);
    }

    /// Loads the copies of all accelerators, file by file: the Neuron runtime gives each file that is
    /// loaded to the core that has the fewest, so the copies of a file are on different cores, and
    /// workers that run the same shape do not wait for each other.
    @Override
    public M modelFn(ModelContext context) {
        files.forEach(file -> context.accelerators().forEach(file::on));
        return models.computeIfAbsent(
                context.accelerator(),
                own -> model.apply(own, files.stream().map(file -> file.on(own)).toList()));
    }

    /// Runs each shape. Workers that share a model need it once.
    ///
    /// @throws ModelArtifactException when the model fails
    @Override
    public void warmUpFn(M model) {
        try {
            if (warm.add(model)) {
                warmUp(model);
            }
        } catch (EngineException e) {
            throw new ModelArtifactException(
                    artifact.directory(), "the model does not take what the files beside it say: " + e.getMessage(), e);
        }
    }

    @Override
    public List<TaskRecord<T, P>> inputFn(InvocationRequest request) throws IOException {
        var inputs = reader.inputs(documents(request), this::listed);
        var read = reading();
        return BadRecords.apart(request, inputs.size(), i -> {
            var input = inputs.get(i).get();
            if (input.alone()) {
                request.attributes().put(FORM, Instances.Form.ONE);
            }
            return new TaskRecord<>(read.apply(input), input.parameters());
        });
    }

    /// A compiled model takes a fixed number of records, and more would only wait while other workers
    /// are free.
    @Override
    public int maxBatchSize(Accelerator accelerator) {
        return artifact.largestBatch().orElse(InferenceHandler.super.maxBatchSize(accelerator));
    }

    /// The answers as plain Java, as they are written as JSON, such as a `float[]` of an embedding.
    @Override
    public abstract List<Object> predictFn(List<TaskRecord<T, P>> records, M model);

    /// Writes answers as the request asks: a list, or the answer of an input alone. A bad record that
    /// is kept has its error in its place.
    @Override
    public InvocationResponse outputFn(List<Object> answers, InvocationRequest request) throws IOException {
        return ContentTypes.writing(request, OfDocuments.class)
                .writeDocuments(
                        BadRecords.inPlaces(answers, request),
                        columns.stream().map(Column::name).toList(),
                        (Instances.Form) request.attributes().getOrDefault(FORM, Instances.Form.LIST),
                        request.accept());
    }

    /// Refuses an artifact whose model takes or returns something else than the task needs. Its outputs
    /// are those that are expected, or as many of those that the file itself names, in the place of
    /// them.
    ///
    /// @param problemOfInputs what is wrong with the inputs that `model.json` names, if anything
    /// @param expected the outputs that the task makes answers of
    /// @throws ModelArtifactException with everything that is wrong
    public static void check(TracedArtifact artifact, Optional<String> problemOfInputs, List<String> expected) {
        var problems = new ArrayList<String>();
        problemOfInputs.ifPresent(problems::add);
        var found = artifact.outputs();
        var file = artifact.modelFiles().getFirst();
        boolean areNamed = found.size() == expected.size()
                && Engine.of(file).names(file).outputNames().containsAll(found);
        if (!found.equals(expected) && !areNamed) {
            problems.add("model.json: outputs: found %s, expected %s".formatted(found, expected));
        }
        if (!problems.isEmpty()) {
            throw new ModelArtifactException(artifact.directory(), problems);
        }
    }

    /// Refuses a model whose rows depend on each other, where neither `model.json` says that they do
    /// not nor int8 has them differ a little.
    ///
    /// @param rows two or three to try
    /// @param forward runs the model; for each row what it says of it
    /// @throws ModelArtifactException when what it says of a row depends on the others
    public static <R> void requireIndependence(
            TracedArtifact artifact, List<R> rows, Function<List<R>, List<float[]>> forward) {
        var file = artifact.modelFiles().getFirst();
        var header = artifact.header();
        boolean isInt8 = header.origin().precision().equals("int8")
                || Engine.of(file).names(file).scalesBatches();
        if (isInt8 || header.tensors().independentRows().isPresent()) {
            return;
        }
        var result = RowCheck.of(
                rows,
                some -> forward.apply(some).stream()
                        .map(numbers -> List.of(Tensor.of(numbers, numbers.length)))
                        .toList(),
                _ -> String.join(" and ", artifact.outputs()),
                header.origin().precision().equals("fp32") ? RowCheck.TOLERANCE : TOLERANCE_OF_HALVES);
        if (!result.areIndependent() && result.haveParts().isPresent()) {
            throw new ModelArtifactException(
                    artifact.directory(),
                    "%s: its rows%s; a task needs a model that looks at each row by itself, or \"independentRows\": true in model.json where this is wrong"
                            .formatted(file.getFileName(), result.found()));
        }
    }

    /// Runs a model.
    ///
    /// @param names of the outputs that are wanted. A model that has no such names returns them in
    ///   this order
    /// @param mostCores on a CPU, the most cores that it can use well
    /// @return numbers with fractions as float32
    public static List<Tensor> outputs(Graph model, List<Tensor> inputs, List<String> names, int mostCores) {
        var answered = model.forward(inputs, mostCores);
        var all = model.outputNames();
        boolean byName = all.containsAll(names);
        if (!byName && answered.size() != names.size()) {
            throw new EngineException("the model returned %d tensors, expected %s".formatted(answered.size(), names));
        }
        return (byName ? names.stream().map(name -> answered.get(all.indexOf(name))) : answered.stream())
                .map(tensor -> tensor.type().isFloating() ? tensor.as(ElementType.FLOAT32) : tensor)
                .toList();
    }

    /// The tokenizer of an artifact, which the caller closes.
    protected static Tokenizer tokenizer(ModelArtifact artifact) {
        try {
            return Tokenizer.load(artifact.tokenizer(), artifact.lowerCase());
        } catch (IOException e) {
            throw new ModelArtifactException(artifact.directory(), e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        files.forEach(SharedGraphs::close);
    }
}
