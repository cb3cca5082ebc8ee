package dev.berth.handler.task;

import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.TracedArtifact;
import dev.berth.content.ContentType.OfDocuments;
import dev.berth.content.ContentTypes;
import dev.berth.content.Documents;
import dev.berth.engine.Engine;
import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.engine.RowCheck;
import dev.berth.handler.task.TaskRecord.Asked;
import dev.berth.handler.task.TaskRecord.Rejected;
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
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;

/// A task, served by a model that `trace.py` has made: it reads inputs in any form, runs the model
/// on them and writes what it makes of the output. Its subclass says what an input is, and what is
/// answered.
///
/// @param <M> the model of one accelerator
/// @param <T> what the model gets of a record
/// @param <P> the parameters of the task
public abstract class TaskHandler<M, T, P> implements InferenceHandler<M, TaskRecord<T, P>, TaskAnswer>, AutoCloseable {

    private static final List<MediaType> TYPES = ContentTypes.mediaTypes(OfDocuments.class);

    /// In fp16 and bf16, as [RowCheck#TOLERANCE]. bf16 moves logits by up to 6 % of the largest, and
    /// those of another row may be small.
    private static final double TOLERANCE_OF_HALVES = 0.25;

    private final TracedArtifact artifact;
    private final InputReader<P> reader;
    private final List<String> fields;
    private final List<Column> columns;
    private final Copies<M> models;

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
        this.models = new Copies<>(artifact, model);
    }

    /// What the model gets of each input of a request, by a function for that request.
    ///
    /// A [dev.berth.hooks.BadInputException] says that the task can't use one.
    protected abstract Function<TaskInput<P>, T> reading();

    /// What records are answered, in their order, as plain Java that is written as JSON.
    protected abstract List<?> answers(List<Asked<T, P>> records, M model);

    /// Runs each shape.
    ///
    /// @throws ModelArtifactException when the model answers what it must not
    protected abstract void warmUp(M model) throws IOException;

    /// What a request holds.
    protected Documents documents(InvocationRequest request) throws IOException {
        return ContentTypes.reading(request, OfDocuments.class).readDocuments(request, fields);
    }

    /// Whether a body of a list of so many inputs is answered as one input alone.
    protected boolean isAlone(int inputs) {
        return false;
    }

    /// Whether [#warmUpFn] asks the sample of the artifact and checks the answer, which may differ
    /// more than numbers do. Else the server does.
    public boolean checksSample() {
        return false;
    }

    /// What it serves.
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

    @Override
    public M modelFn(ModelContext context) {
        return models.of(context);
    }

    /// Runs each shape. Workers that share a model need it once.
    ///
    /// @throws ModelArtifactException when the model fails
    @Override
    public void warmUpFn(M model) throws IOException {
        try {
            if (models.beginsToWarm(model)) {
                warmUp(model);
            }
        } catch (EngineException e) {
            throw new ModelArtifactException(
                    artifact.directory(), "the model does not take what the files beside it say: " + e.getMessage(), e);
        }
    }

    @Override
    public List<TaskRecord<T, P>> inputFn(InvocationRequest request) throws IOException {
        return reader.read(request, documents(request), this::isAlone, reading());
    }

    /// A compiled model takes a fixed number of records, and more would only wait while other workers
    /// are free.
    @Override
    public int maxBatchSize(Accelerator accelerator) {
        return artifact.largestBatch().orElse(InferenceHandler.super.maxBatchSize(accelerator));
    }

    @Override
    public List<TaskAnswer> predictFn(List<TaskRecord<T, P>> records, M model) {
        var asked = new ArrayList<Asked<T, P>>();
        for (var record : records) {
            if (record instanceof Asked<T, P> one) {
                asked.add(one);
            }
        }
        var documents = answers(asked, model).iterator();
        return records.stream()
                .<TaskAnswer>map(record -> switch (record) {
                    case Asked<T, P>(var _, var _, var alone) -> new TaskAnswer.Answered(documents.next(), alone);
                    case Rejected<T, P>(var message) -> new TaskAnswer.Rejected(message);
                })
                .toList();
    }

    @Override
    public InvocationResponse outputFn(List<TaskAnswer> answers, InvocationRequest request) throws IOException {
        return TaskAnswer.write(answers, columns.stream().map(Column::name).toList(), request);
    }

    /// What is wrong with the outputs that `model.json` names, if anything. They are `expected`, or
    /// as many of those that the file itself names, in the place of them.
    ///
    /// @param expected those that the task makes answers of
    public static Optional<String> problemOfOutputs(TracedArtifact artifact, List<String> expected) {
        var found = artifact.outputs();
        var file = artifact.modelFiles().getFirst();
        boolean fits = found.equals(expected)
                || (found.size() == expected.size()
                        && Engine.of(file).names(file).outputNames().containsAll(found));
        return fits
                ? Optional.empty()
                : Optional.of("model.json: outputs: found %s, expected %s".formatted(found, expected));
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
        if (result instanceof RowCheck.Result.Dependent(var found, boolean _)) {
            throw new ModelArtifactException(
                    artifact.directory(),
                    "%s: its rows depend on each other: %s; a task needs a model that looks at each row by itself, or \"independentRows\": true in model.json where this is wrong"
                            .formatted(file.getFileName(), found));
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
    ///
    /// @throws ModelArtifactException when it can't be loaded
    protected static Tokenizer tokenizer(ModelArtifact artifact) {
        try {
            return Tokenizer.load(artifact.tokenizer(), artifact.lowerCase());
        } catch (IOException e) {
            throw new ModelArtifactException(artifact.directory(), e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        models.close();
    }
}
