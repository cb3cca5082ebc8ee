package dev.berth.handler.tensor;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.TensorArtifact.Input;
import dev.berth.content.CsvTensors;
import dev.berth.content.Excerpt;
import dev.berth.content.Instances;
import dev.berth.content.Json;
import dev.berth.content.JsonLines;
import dev.berth.content.JsonTensors;
import dev.berth.content.Npy;
import dev.berth.content.Npz;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import dev.berth.hooks.UnsupportedMediaTypeException;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.SequencedMap;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Reads payloads into records: for each input of the model one tensor, without a batch dimension. Leaves the
/// [TensorForm] of the payload with the request. Safe for use by many threads.
final class TensorReader {

  static final List<MediaType> TYPES =
      Stream.of(List.of(MediaType.JSON), JsonLines.TYPES, List.of(MediaType.CSV, MediaType.NPY, MediaType.NPZ))
          .flatMap(List::stream)
          .toList();

  private final List<Input> inputs;

  /// @param inputs of the model; empty: one of any name
  TensorReader(List<Input> inputs) {
    this.inputs = inputs;
  }

  List<List<Tensor>> read(InvocationRequest request) throws IOException {
    var type = request.contentType().withoutParameters();
    if (type.equals(MediaType.JSON)) {
      return json(Json.read(request), request);
    }
    if (JsonLines.TYPES.contains(type)) {
      return lines(
          JsonLines.read(request).stream().<Supplier<List<Tensor>>>map(line -> () -> record(line.json(), line.name())).toList(),
          request);
    }
    if (type.equals(MediaType.CSV)) {
      needsOneInput(type);
      return lines(
          CsvTensors.read(request).stream().<Supplier<List<Tensor>>>map(row -> () -> List.of(row.tensor(elementType(0)))).toList(),
          request);
    }
    if (type.equals(MediaType.NPY)) {
      needsOneInput(type);
      return npy(Npy.read(request.bytes()), request);
    }
    if (type.equals(MediaType.NPZ)) {
      return npz(Npz.read(request.bytes()));
    }
    throw new UnsupportedMediaTypeException("Content-Type: found %s, expected one of %s".formatted(type, TYPES));
  }

  private List<List<Tensor>> json(JsonNode body, InvocationRequest request) {
    if (body.has("inputs") && inputs.stream().noneMatch(input -> input.name().equals("inputs"))) {
      TensorForm.COLUMNS.of(request);
      return columns(body.path("inputs"));
    }
    var instances = Instances.read(body);
    TensorForm.of(instances.form()).of(request);
    return IntStream.range(0, instances.values().size())
        .mapToObj(i -> record(instances.values().get(i), instances.name(i)))
        .toList();
  }

  /// TensorFlow Serving's column form: the batches of all records, input by input.
  private List<List<Tensor>> columns(JsonNode columns) {
    if (inputs.isEmpty() || inputs.size() == 1 && !columns.isObject()) {
      return rows(List.of(tensor(columns, "inputs")), "inputs");
    }
    return rows(fields(columns, "inputs"), "inputs");
  }

  /// The records of lines, some of which may be bad.
  private static List<List<Tensor>> lines(List<Supplier<List<Tensor>>> lines, InvocationRequest request) {
    var records = new ArrayList<List<Tensor>>();
    for (int i = 0; i < lines.size(); i++) {
      try {
        records.add(lines.get(i).get());
      } catch (BadInputException e) {
        if (!request.keepBadRecords()) {
          throw e;
        }
        RejectedLines.of(request).put(i, e.getMessage());
      }
    }
    return records;
  }

  /// An array of one dimension or none is one record; others are rows of records.
  private List<List<Tensor>> npy(Tensor tensor, InvocationRequest request) {
    var typed = typed(tensor, 0, "body");
    if (tensor.rank() < 2) {
      TensorForm.ONE.of(request);
      return List.of(List.of(typed));
    }
    return typed.unstack().stream().map(List::of).toList();
  }

  private List<List<Tensor>> npz(SequencedMap<String, Tensor> arrays) {
    if (inputs.isEmpty() && arrays.size() == 1) {
      return rows(List.of(typed(arrays.firstEntry().getValue(), 0, "body")), arrays.firstEntry().getKey());
    }
    var tensors = new ArrayList<Tensor>();
    checkNames(List.copyOf(arrays.keySet()), "body");
    for (int i = 0; i < inputs.size(); i++) {
      tensors.add(typed(arrays.get(inputs.get(i).name()), i, inputs.get(i).name()));
    }
    return rows(tensors, "body");
  }

  private List<Tensor> record(JsonNode value, String name) {
    if (inputs.size() > 1 || value.isObject() && inputs.size() == 1 && value.has(inputs.getFirst().name())) {
      return fields(value, name);
    }
    return List.of(tensor(value, name));
  }

  /// The tensor of the only input, which may stand under any name where it has none of its own.
  private Tensor tensor(JsonNode value, String name) {
    if (value.isObject() && inputs.isEmpty() && value.size() == 1 && !value.has("b64")) {
      var field = value.properties().iterator().next();
      return JsonTensors.read(field.getValue(), elementType(0), "%s.%s".formatted(name, field.getKey()));
    }
    return JsonTensors.read(value, elementType(0), name);
  }

  /// A tensor for each input from an object that has them by name.
  private List<Tensor> fields(JsonNode object, String name) {
    if (!object.isObject()) {
      throw new BadInputException("%s: found %s, expected an object with %s".formatted(name, Excerpt.of(object), names()));
    }
    checkNames(object.propertyStream().map(field -> field.getKey()).toList(), name);
    return IntStream.range(0, inputs.size())
        .mapToObj(i -> JsonTensors.read(
            object.path(inputs.get(i).name()), elementType(i), "%s.%s".formatted(name, inputs.get(i).name())))
        .toList();
  }

  private void checkNames(List<String> found, String name) {
    if (inputs.isEmpty() || found.size() != inputs.size() || !found.containsAll(names())) {
      throw new BadInputException("%s: found the names %s, expected %s".formatted(
          name, Excerpt.quoted(String.join(", ", found)), inputs.isEmpty() ? "one" : names()));
    }
  }

  private List<String> names() {
    return inputs.stream().map(Input::name).toList();
  }

  /// Takes batches apart into records.
  private static List<List<Tensor>> rows(List<Tensor> batches, String name) {
    for (var batch : batches) {
      if (batch.rank() == 0 || batch.shape()[0] != batches.getFirst().shape()[0]) {
        throw new BadInputException("%s: found %s, expected as many rows in each".formatted(name, batches));
      }
    }
    var parts = batches.stream().map(Tensor::unstack).toList();
    return IntStream.range(0, parts.getFirst().size())
        .mapToObj(row -> parts.stream().map(part -> part.get(row)).toList())
        .toList();
  }

  /// What `model.json` says; float32 where it says nothing.
  private ElementType elementType(int input) {
    return inputs.isEmpty() ? ElementType.FLOAT32 : inputs.get(input).type();
  }

  /// An array keeps its own type where `model.json` names none, but for NumPy's float64, which few models take.
  private Tensor typed(Tensor tensor, int input, String name) {
    if (inputs.isEmpty()) {
      return tensor.type() == ElementType.FLOAT64 ? tensor.as(ElementType.FLOAT32) : tensor;
    }
    var type = inputs.get(input).type();
    if (!type.isFloating() && (tensor.type().isFloating() || !Arrays.stream(tensor.longs()).allMatch(type::holds))) {
      throw new BadInputException("%s: found %s, expected elements of type %s and within its range".formatted(name, tensor, type));
    }
    return tensor.as(type);
  }

  private void needsOneInput(MediaType type) {
    if (inputs.size() > 1) {
      throw new UnsupportedMediaTypeException(
          "Content-Type: found %s, expected a type that names the model's inputs %s: application/json, application/jsonlines or application/x-npz"
              .formatted(type, names()));
    }
  }
}
