package dev.berth.handler.tensor;

import dev.berth.artifact.TensorArtifact;
import dev.berth.content.BadRecords;
import dev.berth.content.ContentType.OfTensors;
import dev.berth.content.ContentType.ToTensors;
import dev.berth.content.ContentTypes;
import dev.berth.content.Instances;
import dev.berth.content.TensorPredictions;
import dev.berth.engine.Engine;
import dev.berth.engine.Graph;
import dev.berth.engine.RowCheck;
import dev.berth.engine.SharedGraphs;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.Signature;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Serves any model file, such as a TorchScript: JSON, CSV or NumPy's arrays in, the model's answer
/// out in any of them.
///
/// A record is one row: a tensor for each input of the model, without the batch dimension. Where
/// rows are known to be independent of each other, records of like shapes go through the model
/// together, stacked along a new first dimension, and what the model returns is taken apart along
/// its first dimension again. Where they are not, all rows of a request are one record, and one
/// forward. A class with an `inputFn` or an `outputFn` of its own has a forward for each record
/// then.
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
/// The content types, and what they are answered with, stand in `docs/hooks.md`.
public class TensorHandler implements InferenceHandler<Graph, List<Tensor>, List<Tensor>>, AutoCloseable {

    private static final List<MediaType> REQUEST_TYPES = ContentTypes.mediaTypes(ToTensors.class);
    private static final List<MediaType> RESPONSE_TYPES = ContentTypes.mediaTypes(OfTensors.class);

    /// How the records of a request were written. `inputFn` leaves it with the request for `outputFn`.
    ///
    /// @param rows that the request is one record of; 0: its records are by themselves
    /// @param isArray whether these were sent as the array that the model takes
    private record Written(Instances.Form form, int rows, boolean isArray) {

        private static final String NAME = Written.class.getName();

        /// What it is where a hook has taken the place of `inputFn`.
        private static final Written AS_LIST = new Written(Instances.Form.LIST, 0, false);
    }

    private record Read(List<List<Tensor>> records, Instances.Form form) {}

    private final TensorArtifact artifact;
    private final boolean isOfMlflow;
    private final KnownTensors known;
    private final SharedGraphs models;
    private final List<MediaType> responseTypes;

    private final RowAxes axes;
    private final Batching batching;
    private final TrialRows trial;

    /// Whether the records are those of this class, so that a request may be one.
    private final boolean readsRequests;

    /// That of each accelerator. A dict may have names only once one of them has returned it.
    private final Set<Graph> loaded = ConcurrentHashMap.newKeySet();

    public TensorHandler(Path modelDirectory) {
        this(TensorArtifact.open(modelDirectory, Engine.FORMS));
    }

    public TensorHandler(TensorArtifact artifact) {
        this.artifact = artifact;
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
        this.known = new KnownTensors(
                declared.inputs(),
                names.inputs().isEmpty() ? "input_0" : names.inputs().getFirst().name(),
                axes);
        this.trial = new TrialRows(names, known.inputs());
        this.models = new SharedGraphs(artifact.file(), artifact.outputs());
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
                .allMatch(method -> method.getDeclaringClass() == TensorHandler.class);
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
        var graph = models.on(context.accelerator());
        loaded.add(graph);
        return graph;
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
            records = readsRequests ? read(sample).records : inputFn(sample);
        } catch (IOException | RuntimeException _) {
            return;
        }
        batching.trySample(records, batches -> known.forward(batches, model), model::outputNames);
    }

    /// What goes through the model in one forward and why, for people.
    public String forwards() {
        return batching.description();
    }

    @Override
    public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
        var read = read(request);
        var rows = read.records;
        boolean isWhole = readsRequests && batching.isOfRequests(rows);
        boolean isArray = isWhole
                && read.form == Instances.Form.ONE
                && batching.hasRows(rows.getFirst().getFirst());
        request.attributes().put(Written.NAME, new Written(read.form, isWhole ? rows.size() : 0, isArray));
        if (!isWhole) {
            return rows;
        }
        if (!batching.haveParts(outputNames())) {
            BadRecords.requireNone(request);
        }
        return List.of(isArray ? new WholeRequest(rows.getFirst()) : WholeRequest.of(rows));
    }

    private Read read(InvocationRequest request) throws IOException {
        var inputs = known.inputs();
        var read = ContentTypes.reading(request, ToTensors.class).readTensors(request, inputs);
        var records =
                BadRecords.apart(request, read.count(), i -> inputs.table().shaped(read.at(i)));
        // As MLflow answers, whose clients take nothing else.
        var form = isOfMlflow && read.form() != Instances.Form.ONE ? Instances.Form.INSTANCES : read.form();
        return new Read(records, form);
    }

    private boolean isMerged(List<Tensor> record) {
        return !(record instanceof WholeRequest) && batching.isMerged(record);
    }

    /// Runs the model once for each shape among the records, or for each record where these are not
    /// known to be independent.
    ///
    /// @throws BadInputException when the model refuses the shape, type or values of these tensors
    @Override
    public List<List<Tensor>> predictFn(List<List<Tensor>> records, Graph model) throws Exception {
        var alike = IntStream.range(0, records.size())
                .boxed()
                .collect(Collectors.groupingBy(
                        i -> isMerged(records.get(i)) ? records.get(i).toString() : "" + i,
                        LinkedHashMap::new,
                        Collectors.toList()));
        var predictions = new ArrayList<List<Tensor>>(records);
        for (var indexes : alike.values()) {
            var rows = predict(indexes.stream().map(records::get).toList(), model);
            for (int i = 0; i < rows.size(); i++) {
                predictions.set(indexes.get(i), rows.get(i));
            }
        }
        return predictions;
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
        return new TensorPredictions(predictions, outputNames(), written.form, bad, known.none(), isWhole);
    }

    /// The outputs of a request as they are; by rows where they have a part for each, so that the
    /// answer has the form of the request.
    private TensorPredictions whole(List<Tensor> outputs, Written written, InvocationRequest request) {
        var names = names(outputs);
        if (!written.isArray && batching.haveParts(names)) {
            try {
                return predicted(axes.parts(outputs, names, written.rows), written, request, false);
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

    /// Small models gain from batches on any device, if they may have any.
    @Override
    public int maxBatchSize(Accelerator accelerator) {
        return batching.mayMerge() ? 32 : 1;
    }

    @Override
    public int length(List<Tensor> record) {
        return record instanceof WholeRequest ? Math.max(1, record.getFirst().shape()[0]) : 1;
    }

    @Override
    public void close() {
        models.close();
    }

    private List<List<Tensor>> predict(List<List<Tensor>> records, Graph model) {
        boolean isWhole = records.getFirst() instanceof WholeRequest;
        var outputs = known.forward(isWhole ? records.getFirst() : RowAxes.columns(records), model);
        var names = names(outputs);
        if (isWhole) {
            known.returned(names, outputs, 1);
            return List.of(outputs);
        }
        var parts = axes.parts(outputs, names, records.size());
        known.returned(names, parts.getFirst(), 0);
        return parts;
    }

    private List<String> names(List<Tensor> outputs) {
        var names = outputNames();
        return IntStream.range(0, outputs.size())
                .mapToObj(i -> TensorPredictions.name(names, i))
                .toList();
    }

    /// Those of `model.json`, else those of the dict that the model has returned.
    private List<String> outputNames() {
        return artifact.outputs().isEmpty()
                ? loaded.stream()
                        .map(Graph::outputNames)
                        .filter(names -> !names.isEmpty())
                        .findFirst()
                        .orElse(List.of())
                : artifact.outputs();
    }
}
