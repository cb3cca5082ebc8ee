package dev.berth.handler.task;

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
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;

/// A task: it reads inputs in any form, runs the model on them and writes what it makes of the
/// output. Its subclass says what an input is, and what is answered.
///
/// @param <M> the model of one accelerator
/// @param <T> what the model gets of a record
/// @param <P> the parameters of the task
public abstract class TaskHandler<M, T, P> implements TracedHandler<M, TaskRecord<T, P>, TaskAnswer>, AutoCloseable {

    private static final List<MediaType> RESPONSE_TYPES = ContentTypes.mediaTypes(OfDocuments.class);

    /// In fp16 and bf16, as [RowCheck#TOLERANCE]. bf16 moves logits by up to 6 % of the largest, and
    /// those of another row may be small.
    private static final double TOLERANCE_OF_HALVES = 0.25;

    private final TracedArtifact artifact;
    private final InputReader<P> reader;
    private final List<String> columns;
    private final Copies<M> models;

    /// @param columns of an answer as CSV
    /// @param model makes a model of a copy of each file of the artifact
    protected TaskHandler(
            TracedArtifact artifact,
            InputReader<P> reader,
            List<String> columns,
            BiFunction<Accelerator, List<Graph>, M> model) {
        this.artifact = artifact;
        this.reader = reader;
        this.columns = columns;
        this.models = new Copies<>(artifact, model);
    }

    /// What a request holds.
    protected abstract Documents documents(InvocationRequest request) throws IOException;

    /// What the model gets of an input.
    ///
    /// @throws dev.berth.hooks.BadInputException when the task can't use it
    protected abstract T read(TaskInput<P> input);

    /// The model's output for each input.
    protected abstract List<float[]> forward(List<T> inputs, M model);

    /// What a record is answered, as plain Java.
    protected abstract Object answer(Asked<T, P> record, float[] output);

    /// Runs each shape.
    protected abstract void warmUp(M model);

    /// Whether a body of a list of so many inputs is answered as one input alone.
    protected boolean isAlone(int inputs) {
        return false;
    }

    /// The parameters of a request that has none.
    protected final P defaults() {
        return reader.defaults();
    }

    @Override
    public final TracedArtifact artifact() {
        return artifact;
    }

    @Override
    public M modelFn(ModelContext context) {
        return models.of(context);
    }

    /// Runs each shape. Workers that share a model need it once.
    ///
    /// @throws ModelArtifactException when the model fails
    @Override
    public void warmUpFn(M model) {
        models.warmUp(model, () -> warmUp(model));
    }

    @Override
    public List<MediaType> responseTypes() {
        return RESPONSE_TYPES;
    }

    @Override
    public List<TaskRecord<T, P>> inputFn(InvocationRequest request) throws IOException {
        return reader.read(
                request,
                documents(request),
                this::isAlone,
                input -> new Asked<>(read(input), input.parameters(), input.alone()),
                Rejected::new);
    }

    /// A compiled model takes a fixed number of records.
    @Override
    public int maxBatchSize(Accelerator accelerator) {
        return artifact.largestBatch().orElse(TracedHandler.super.maxBatchSize(accelerator));
    }

    @Override
    public List<TaskAnswer> predictFn(List<TaskRecord<T, P>> records, M model) {
        var inputs = new ArrayList<T>();
        for (var record : records) {
            if (record instanceof Asked<T, P> asked) {
                inputs.add(asked.input());
            }
        }
        var outputs = forward(inputs, model).iterator();
        return records.stream()
                .<TaskAnswer>map(record -> switch (record) {
                    case Asked<T, P> asked -> new TaskAnswer.Answered(answer(asked, outputs.next()), asked.alone());
                    case Rejected<T, P>(var message) -> new TaskAnswer.Rejected(message);
                })
                .toList();
    }

    @Override
    public InvocationResponse outputFn(List<TaskAnswer> answers, InvocationRequest request) throws IOException {
        return TaskAnswer.write(answers, columns, request);
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
                        && Engine.of(file).names(file).outputs().containsAll(found));
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
        boolean isInt8 =
                header.precision().equals("int8") || Engine.of(file).names(file).scalesBatches();
        if (isInt8 || header.independentRows().isPresent()) {
            return;
        }
        var result = RowCheck.of(
                rows,
                some -> forward.apply(some).stream()
                        .map(numbers -> List.of(Tensor.of(numbers, numbers.length)))
                        .toList(),
                _ -> String.join(" and ", artifact.outputs()),
                header.precision().equals("fp32") ? RowCheck.TOLERANCE : TOLERANCE_OF_HALVES);
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

    @Override
    public void close() {
        models.close();
    }
}
