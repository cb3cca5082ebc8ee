package dev.berth.handler.tensor;

import dev.berth.artifact.TensorArtifact;
import dev.berth.content.BadRecords;
import dev.berth.content.ContentType.OfTensors;
import dev.berth.content.ContentType.ToTensors;
import dev.berth.content.ContentTypes;
import dev.berth.content.InlineHooks;
import dev.berth.content.Instances;
import dev.berth.content.TensorPredictions;
import dev.berth.content.TensorRecords;
import dev.berth.engine.Engine;
import dev.berth.engine.Graph;
import dev.berth.engine.GraphPort;
import dev.berth.engine.RowCheck;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.Signature;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/// Serves any model file, such as a TorchScript: JSON, CSV or NumPy's arrays in, the model's answer
/// out in any of them.
///
/// A record is one row: a tensor for each input of the model, without the batch dimension; or several
/// rows, with it. Where rows are known to be independent of each other, those of like shapes go through
/// the model together, and what the model returns is taken apart along its first dimension again. Where
/// they are not, all rows of a request are one record, and one forward. A class with an `inputFn` or an
/// `outputFn` of its own has a forward for each record then, and one with another hook of its own gets
/// rows.
///
/// Extend this class to change one hook, for instance `inputFn` to read images:
///
/// ```java
/// public final class Inference extends TensorHandler {
///   public Inference(Path modelDirectory) { super(modelDirectory); }
///
///   @Override
///   public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
///     return List.of(List.of(Image.read(request.bytes()).resize(224, 224).rgb(MEAN, DEVIATION)));
///   }
/// }
/// ```
///
/// The content types, and what they are answered with, stand in `docs/hooks-reference.md`.
public class TensorHandler implements InlineHooks<Graph, List<Tensor>, List<Tensor>>, AutoCloseable {

    private static final List<MediaType> REQUEST_TYPES = ContentTypes.mediaTypes(ToTensors.class);
    private static final List<MediaType> RESPONSE_TYPES = ContentTypes.mediaTypes(OfTensors.class);

    /// Elements of a batch of small rows: a forward of these takes many times longer than its call.
    private static final int BATCH_ELEMENTS = 1 << 16;

    /// Of a body that is mostly read in a millisecond, and never takes more than a few tenths of a second.
    private static final int INLINE_BYTES = 128 << 10;

    private static final int INLINE_ELEMENTS = 4096;

    /// None of them is longer once it is unpacked.
    private static final Set<MediaType> TEXTS = Set.of(MediaType.JSON, MediaType.JSON_LINES, MediaType.CSV);

    /// How the records of a request were written. `inputFn` leaves it with the request for `outputFn`.
    ///
    /// @param rows that the request is one record of; 0: its records are by themselves
    /// @param isArray whether these were sent as the array that the model takes
    /// @param isMerged whether they went through the model as rows of any requests do
    private record Written(Instances.Form form, int rows, boolean isArray, boolean isMerged) {

        private static final String NAME = Written.class.getName();

        /// What it is where a hook has taken the place of `inputFn`.
        private static final Written AS_LIST = new Written(Instances.Form.LIST, 0, false, false);
    }

    private final boolean isOfMlflow;
    private final KnownTensors known;
    private final List<MediaType> responseTypes;

    private final RowAxes axes;
    private final Batching batching;
    private final TrialRows trial;
    private final Forwards forwards;

    /// Whether the records are those of this class, so that a request may be one.
    private final boolean readsRequests;

    /// Whether a record may be several rows: no hook is another class's, which would take each for one.
    private final boolean takesBlocks;

    /// In a batch.
    private volatile int mostRows = Integer.MAX_VALUE;

    public TensorHandler(Path modelDirectory) {
        this(TensorArtifact.open(modelDirectory, Engine.FORMS));
    }

    public TensorHandler(TensorArtifact artifact) {
        this.isOfMlflow = Files.exists(artifact.directory().resolve("MLmodel"));
        var names = Engine.of(artifact.file()).names(artifact.file());
        this.axes = new RowAxes(names);
        var declared = new DeclaredTensors(artifact, names, axes);
        declared.check();
        // A class that extends this one may give the model what else it takes.
        if (getClass() == TensorHandler.class) {
            declared.checkTypes();
        }
        this.batching = new Batching(names, axes, artifact);
        this.readsRequests = isOfThis("inputFn", 1) && isOfThis("outputFn", 2);
        this.takesBlocks = readsRequests
                && isOfThis("modelFn", 1)
                && isOfThis("split", 1)
                && isOfThis("length", 1)
                && isOfThis("count", 1)
                && isOfThis("predictFn", 2)
                && isOfThis("join", 2)
                && names.outputs().stream().noneMatch(GraphPort::hasValue);
        this.known = new KnownTensors(
                declared.inputs(),
                names.inputs().isEmpty() ? "input_0" : names.inputs().getFirst().name(),
                axes);
        this.trial = new TrialRows(names, known.inputs());
        this.forwards = new Forwards(artifact, axes, batching, known);
        boolean areNumbers = names.outputs().stream()
                .filter(output -> output.type().equals(Optional.of(ElementType.STRING)))
                .noneMatch(text ->
                        artifact.outputs().isEmpty() || artifact.outputs().contains(text.name()));
        this.responseTypes = RESPONSE_TYPES.stream()
                .filter(type -> areNumbers || !(type.equals(MediaType.NPY) || type.equals(MediaType.NPZ)))
                .toList();
    }

    /// Whether a hook is not overridden.
    private boolean isOfThis(String hook, int parameters) {
        return Arrays.stream(getClass().getMethods())
                .filter(method -> method.getName().equals(hook) && !method.isBridge())
                .filter(method -> method.getParameterCount() == parameters)
                .allMatch(method -> method.getDeclaringClass().isAssignableFrom(TensorHandler.class));
    }

    /// Inputs have the names of `model.json`, else the model's own, and the shapes of the file where
    /// it tells them. Other shapes, and outputs, are those of all forwards so far, the first of which
    /// is the sample's.
    @Override
    public Signature signature() {
        return known.signature();
    }

    /// Says that what has been asked so far is the sample. Where `model.json` names no types, other
    /// requests are read in those of the sample from now on.
    public void expectTypesOfSample() {
        known.expectTypesOfSample();
    }

    @Override
    public Graph modelFn(ModelContext context) throws Exception {
        mostRows = context.maxBatchSize();
        return forwards.on(context.accelerator());
    }

    @Override
    public List<MediaType> requestTypes() {
        return REQUEST_TYPES;
    }

    /// NumPy's files only where the model returns no texts.
    @Override
    public List<MediaType> responseTypes() {
        return responseTypes;
    }

    /// Finds out whether rows are independent, by made-up ones.
    @Override
    public void warmUpFn(Graph model) throws Exception {
        batching.tryMadeUp(trial, model);
    }

    /// Finds out whether rows like those of the sample are independent. Asking the sample says what
    /// is wrong with it.
    public void trySample(InvocationRequest sample, Graph model) {
        List<List<Tensor>> records;
        try {
            records = readsRequests ? records(sample, read(sample)) : inputFn(sample);
        } catch (IOException | RuntimeException _) {
            return;
        }
        batching.trySample(records, batches -> known.forward(batches, model), model::outputNames);
    }

    /// What goes through the model in one forward and why, for people.
    public String forwards() {
        return batching.description();
    }

    /// Rows that go through the model together, or are all of a request, are one record.
    @Override
    public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
        var read = read(request);
        // As MLflow answers, whose clients take nothing else.
        var form = isOfMlflow && read.form() != Instances.Form.ONE ? Instances.Form.INSTANCES : read.form();
        // One record may be the array that the model takes.
        var block = takesBlocks && axes.haveRows() && read.count() > 0 && form != Instances.Form.ONE
                ? read.block()
                : Optional.<List<Tensor>>empty();
        if (block.isPresent()) {
            boolean isMerged = batching.isMerged(block.get().getFirst().rank() - 1);
            request.attributes().put(Written.NAME, new Written(form, read.count(), false, isMerged));
            return List.of(new Rows(block.get(), isMerged));
        }
        var rows = records(request, read);
        boolean isWhole = readsRequests && batching.isOfRequests(rows);
        boolean isArray = isWhole
                && form == Instances.Form.ONE
                && batching.hasRows(rows.getFirst().getFirst());
        request.attributes().put(Written.NAME, new Written(form, isWhole ? rows.size() : 0, isArray, false));
        if (!isWhole) {
            return rows;
        }
        if (!batching.haveParts(forwards.outputNames())) {
            BadRecords.requireNone(request);
        }
        return List.of(isArray ? new Rows(rows.getFirst(), false) : Rows.whole(rows));
    }

    private TensorRecords read(InvocationRequest request) throws IOException {
        return ContentTypes.reading(request, ToTensors.class).readTensors(request, known.inputs());
    }

    private List<List<Tensor>> records(InvocationRequest request, TensorRecords read) {
        var table = known.inputs().table();
        return BadRecords.apart(request, read.count(), i -> table.shaped(read.at(i)));
    }

    /// Rows of which a batch holds so many, so that others go in between.
    @Override
    public List<List<Tensor>> split(List<Tensor> record) {
        return record instanceof Rows rows && rows.isMerged() ? rows.cut(mostRows) : List.of(record);
    }

    @Override
    public List<Tensor> join(List<Tensor> record, List<List<Tensor>> parts) {
        return Rows.joined(parts);
    }

    /// Runs the model once for each shape among the records, or for each record where these are not
    /// known to be independent.
    ///
    /// @throws BadInputException when the model refuses the shape, type or values of these tensors
    @Override
    public List<List<Tensor>> predictFn(List<List<Tensor>> records, Graph model) throws Exception {
        return forwards.run(records, model);
    }

    @Override
    public InvocationResponse outputFn(List<List<Tensor>> predictions, InvocationRequest request) throws IOException {
        var written = (Written) request.attributes().getOrDefault(Written.NAME, Written.AS_LIST);
        return ContentTypes.writing(request, OfTensors.class)
                .writeTensors(
                        written.rows == 0
                                ? predicted(predictions, written, request, false)
                                : whole(predictions.getFirst(), written, request),
                        request.accept());
    }

    private TensorPredictions predicted(
            List<List<Tensor>> predictions, Written written, InvocationRequest request, boolean isWhole) {
        var bad = BadRecords.of(request);
        return new TensorPredictions(predictions, forwards.outputNames(), written.form, bad, known.none(), isWhole);
    }

    /// The outputs of a request as they are; by rows where they have a part for each, so that the
    /// answer has the form of the request.
    private TensorPredictions whole(List<Tensor> outputs, Written written, InvocationRequest request) {
        if (written.isMerged) {
            return outputs instanceof Rows.Unlike unlike
                    ? predicted(unlike.rows(), written, request, false)
                    : byRows(outputs, written, request);
        }
        var names = forwards.names(outputs);
        if (!written.isArray && batching.haveParts(names)) {
            try {
                return axes.haveConstants(names)
                        ? predicted(axes.parts(outputs, names, written.rows), written, request, false)
                        : byRows(axes.rows(outputs, names, written.rows), written, request);
            } catch (RowCheck.NoRowsException _) {
                // The file has promised too much.
            }
        }
        boolean isOfOne = written.form == Instances.Form.ONE
                && !written.isArray
                && outputs.stream().allMatch(output -> output.rank() > 0 && output.shape()[0] == 1);
        var answer = isOfOne
                ? outputs.stream().map(output -> output.unstack().getFirst()).toList()
                : outputs;
        return predicted(List.of(answer), written, request, !isOfOne);
    }

    /// One output has its rows by itself, and so have several as columns of JSON.
    private TensorPredictions byRows(List<Tensor> outputs, Written written, InvocationRequest request) {
        boolean areColumns = written.form == Instances.Form.COLUMNS
                && request.accept().withoutParameters().equals(MediaType.JSON);
        return (outputs.size() == 1 || areColumns)
                        && written.form != Instances.Form.ONE
                        && BadRecords.of(request).isEmpty()
                ? predicted(List.of(outputs), written, request, true)
                : predicted(RowAxes.unstacked(outputs), written, request, false);
    }

    /// Small models gain from batches on any device, if they may have any, and small rows from large ones.
    @Override
    public int maxBatchSize(Accelerator accelerator) {
        return batching.mayMerge()
                ? Math.clamp(BATCH_ELEMENTS / Math.max(1, axes.rowSize().orElse(BATCH_ELEMENTS)), 32, 1024)
                : 1;
    }

    @Override
    public int count(List<Tensor> record) {
        return record instanceof Rows rows ? Math.max(1, rows.count()) : 1;
    }

    @Override
    public boolean isInputShort(InvocationRequest request) {
        try {
            return getClass() == TensorHandler.class
                    && TEXTS.contains(request.contentType().withoutParameters())
                    && !request.keepBadRecords()
                    && request.body().available() <= INLINE_BYTES;
        } catch (IOException _) {
            // Whoever reads it says what is wrong.
            return false;
        }
    }

    @Override
    public boolean isOutputShort(List<List<Tensor>> predictions) {
        return predictions.stream().noneMatch(Rows.Unlike.class::isInstance)
                && predictions.stream()
                                .flatMap(List::stream)
                                .mapToLong(output -> output.type() == ElementType.STRING
                                        ? output.texts().stream()
                                                .mapToLong(text -> 1 + text.length())
                                                .sum()
                                        : output.size())
                                .sum()
                        <= INLINE_ELEMENTS;
    }

    @Override
    public void close() {
        forwards.close();
    }
}
