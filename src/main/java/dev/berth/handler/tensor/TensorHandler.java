package dev.berth.handler.tensor;

import dev.berth.artifact.TensorArtifact;
import dev.berth.content.ContentType.OfTensors;
import dev.berth.content.ContentType.ToTensors;
import dev.berth.content.ContentTypes;
import dev.berth.content.Instances;
import dev.berth.content.TensorInputs;
import dev.berth.content.TensorPredictions;
import dev.berth.engine.Engine;
import dev.berth.engine.EngineException;
import dev.berth.engine.Graph;
import dev.berth.engine.GraphNames;
import dev.berth.engine.SharedGraphs;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.BadInputException;
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
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Serves any model file, such as a TorchScript: JSON, CSV or NumPy's arrays in, the model's answer
/// out in any of them.
///
/// A record is one row: a tensor for each input of the model, without the batch dimension. Records
/// of like shapes go through the model together, stacked along a new first dimension; what the
/// model returns is taken apart along its first dimension again.
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
public class TensorHandler
    implements InferenceHandler<Graph, List<Tensor>, List<Tensor>>, AutoCloseable {

  private static final List<MediaType> REQUEST_TYPES = ContentTypes.mediaTypes(ToTensors.class);
  private static final List<MediaType> RESPONSE_TYPES = ContentTypes.mediaTypes(OfTensors.class);

  /// How the records of a request were written, and what is wrong with the bad ones by their
  /// places. `inputFn` leaves it with the request for `outputFn`.
  private record Written(Instances.Form form, SortedMap<Integer, String> rejected) {

    private static final String NAME = Written.class.getName();

    /// What it is where a hook has taken the place of `inputFn`.
    private static final Written AS_LIST =
        new Written(Instances.Form.LIST, Collections.emptySortedMap());
  }

  private final TensorArtifact artifact;
  private final boolean isOfMlflow;
  private final KnownTensors known;
  private final SharedGraphs models;
  private final List<MediaType> responseTypes;

  private final Batching batching;

  /// The graph of each accelerator, as `models` has it, and in the order of `model.json`.
  private final Map<Graph, Graph> named = new ConcurrentHashMap<>();

  public TensorHandler(Path modelDirectory) {
    this(TensorArtifact.open(modelDirectory, Engine.FORMS));
  }

  public TensorHandler(TensorArtifact artifact) {
    this.artifact = artifact;
    this.isOfMlflow = Files.exists(artifact.directory().resolve("MLmodel"));
    var names = Engine.of(artifact.file()).names(artifact.file());
    ModelNames.check(artifact, names);
    // A class that extends this one may give the model what else it takes.
    if (getClass() == TensorHandler.class) {
      ModelNames.checkTypes(artifact, names);
    }
    this.batching = new Batching(names);
    this.known =
        new KnownTensors(
            inputs(artifact, names),
            names.inputs().isEmpty() ? "input_0" : names.inputs().getFirst(),
            batching);
    this.models = new SharedGraphs(artifact.file());
    boolean areNumbers =
        names.texts().stream()
            .noneMatch(text -> artifact.outputs().isEmpty() || artifact.outputs().contains(text));
    this.responseTypes =
        RESPONSE_TYPES.stream()
            .filter(
                type -> areNumbers || !(type.equals(MediaType.NPY) || type.equals(MediaType.NPZ)))
            .toList();
  }

  /// Those of `model.json`, else the model's own where it needs several. One input may have any
  /// name. The types are those of the file where it has some.
  private static TensorInputs inputs(TensorArtifact artifact, GraphNames names) {
    if (artifact.inputs().isEmpty()) {
      return new TensorInputs(
          names.required() > 1 ? names.inputs().subList(0, names.required()) : List.of(),
          names.types(),
          ModelColumns.table(artifact, names));
    }
    return new TensorInputs(
        artifact.inputs().stream().map(TensorArtifact.Input::name).toList(),
        names.types().isEmpty()
            ? artifact.inputs().stream().map(TensorArtifact.Input::type).toList()
            : names.types(),
        ModelColumns.table(artifact, names));
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

  /// The names of the tensors of a record, in their order; empty: there is one, of any name.
  public List<String> inputNames() {
    return known.inputs().names();
  }

  @Override
  public Graph modelFn(ModelContext context) throws Exception {
    return named.computeIfAbsent(
        models.on(context.accelerator()), graph -> new NamedGraph(graph, artifact));
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

  @Override
  public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
    var inputs = known.inputs();
    var read = ContentTypes.reading(request, ToTensors.class).readTensors(request, inputs);
    var records = new ArrayList<List<Tensor>>(read.count());
    var rejected = new TreeMap<Integer, String>();
    for (int i = 0; i < read.count(); i++) {
      try {
        records.add(inputs.table().shaped(read.at(i)));
      } catch (BadInputException e) {
        if (!ContentTypes.keepsBadRecords(request)) {
          throw e;
        }
        rejected.put(i, e.getMessage());
      }
    }
    // As MLflow answers, whose clients take nothing else.
    var form =
        isOfMlflow && read.form() != Instances.Form.ONE ? Instances.Form.INSTANCES : read.form();
    request.attributes().put(Written.NAME, new Written(form, rejected));
    return records;
  }

  /// Runs the model once for each shape among the records, or for each record where it takes no
  /// more.
  ///
  /// @throws BadInputException when the model refuses the shape, type or values of these tensors
  @Override
  public List<List<Tensor>> predictFn(List<List<Tensor>> records, Graph model) throws Exception {
    var alike =
        IntStream.range(0, records.size())
            .boxed()
            .collect(
                Collectors.groupingBy(
                    i -> batching.isAlone() ? "" + i : records.get(i).toString(),
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
  public InvocationResponse outputFn(List<List<Tensor>> predictions, InvocationRequest request)
      throws IOException {
    var written = (Written) request.attributes().getOrDefault(Written.NAME, Written.AS_LIST);
    return ContentTypes.writing(request, OfTensors.class)
        .writeTensors(
            new TensorPredictions(
                predictions, outputNames(), written.form, written.rejected, known.none()),
            request.accept());
  }

  /// Small models gain from batches on any device.
  @Override
  public int maxBatchSize(Accelerator accelerator) {
    return 32;
  }

  @Override
  public void close() {
    models.close();
  }

  private List<List<Tensor>> predict(List<List<Tensor>> records, Graph model) {
    var names = outputNames();
    var returned = known.forward(columns(records), model);
    var outputs =
        IntStream.range(0, returned.size())
            .mapToObj(i -> batching.batch(returned.get(i), TensorPredictions.name(names, i)))
            .toList();
    for (var output : outputs) {
      if (output.rank() == 0 || output.shape()[0] != records.size()) {
        throw new EngineException(
            "the model returned %s for a batch of %d, expected a first dimension of %d%s"
                .formatted(
                    output,
                    records.size(),
                    records.size(),
                    outputs.size() > 1 ? "; \"outputs\" in model.json may leave it out" : ""));
      }
    }
    known.returned(
        IntStream.range(0, outputs.size()).mapToObj(i -> TensorPredictions.name(names, i)).toList(),
        outputs);
    return rows(outputs, records.size());
  }

  /// Those of `model.json`, else those of the dict that the model has returned.
  private List<String> outputNames() {
    return artifact.outputs().isEmpty()
        ? named.values().stream()
            .map(Graph::outputNames)
            .filter(names -> !names.isEmpty())
            .findFirst()
            .orElse(List.of())
        : artifact.outputs();
  }

  /// For each input of the model the records' tensors on each other.
  private static List<Tensor> columns(List<List<Tensor>> records) {
    return IntStream.range(0, records.getFirst().size())
        .mapToObj(input -> Tensor.stack(records.stream().map(record -> record.get(input)).toList()))
        .toList();
  }

  /// For each record its part of each output.
  private static List<List<Tensor>> rows(List<Tensor> outputs, int count) {
    var parts = outputs.stream().map(Tensor::unstack).toList();
    return IntStream.range(0, count)
        .mapToObj(row -> parts.stream().map(part -> part.get(row)).toList())
        .toList();
  }
}
