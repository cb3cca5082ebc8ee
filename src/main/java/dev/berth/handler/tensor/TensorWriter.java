package dev.berth.handler.tensor;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.content.Csv;
import dev.berth.content.CsvTensors;
import dev.berth.content.Instances;
import dev.berth.content.Json;
import dev.berth.content.JsonLines;
import dev.berth.content.JsonTensors;
import dev.berth.content.Npy;
import dev.berth.content.Npz;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.NotAcceptableException;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;

/// Writes predictions: for each record its part of each of the model's outputs. Safe for use by many threads.
///
/// A prediction of one output is that output; one of several is an object, or a file of arrays, that has them by name.
final class TensorWriter {

  static final List<MediaType> TYPES = TensorReader.TYPES;

  private final List<String> names;

  /// @param names of the model's outputs; where they are missing it is `output_0`, `output_1`, …
  TensorWriter(List<String> names) {
    this.names = names;
  }

  byte[] write(List<List<Tensor>> predictions, InvocationRequest request) throws IOException {
    var type = request.accept();
    if (type.equals(MediaType.NPY)) {
      return Npy.write(npy(predictions, request));
    }
    if (type.equals(MediaType.NPZ)) {
      return Npz.write(named(stacked(predictions, request)));
    }
    return text(predictions, request).getBytes(StandardCharsets.UTF_8);
  }

  private String text(List<List<Tensor>> predictions, InvocationRequest request) throws IOException {
    var rejected = RejectedLines.of(request);
    if (request.accept().equals(MediaType.CSV)) {
      var rows = predictions.stream().map(TensorWriter::cells).toList();
      return Csv.write(rejected.among(rows, message -> new Object[] {"ERROR: " + message}));
    }
    var form = TensorForm.in(request);
    if (request.accept().equals(MediaType.JSON) && form == TensorForm.COLUMNS) {
      return Json.write(Map.of("outputs", value(stacked(predictions, request))));
    }
    var values = rejected.among(
        predictions.stream().map(this::value).toList(),
        message -> JsonNodeFactory.instance.objectNode().put("error", message));
    if (JsonLines.TYPES.contains(request.accept())) {
      return JsonLines.write(values);
    }
    if (request.accept().equals(MediaType.JSON)) {
      return Json.write(Instances.answer(values, switch (form) {
        case INSTANCES -> Instances.Form.INSTANCES;
        case ONE -> Instances.Form.ONE;
        case LIST, COLUMNS -> Instances.Form.LIST;
      }));
    }
    throw new NotAcceptableException("Accept: found %s, expected one of %s".formatted(request.accept(), TYPES));
  }

  private JsonNode value(List<Tensor> outputs) {
    if (outputs.size() == 1) {
      return JsonTensors.write(outputs.getFirst());
    }
    var object = JsonNodeFactory.instance.objectNode();
    named(outputs).forEach((name, output) -> object.set(name, JsonTensors.write(output)));
    return object;
  }

  private static Object[] cells(List<Tensor> outputs) {
    return outputs.stream().flatMap(output -> List.of(CsvTensors.cells(output)).stream()).toArray();
  }

  private static Tensor npy(List<List<Tensor>> predictions, InvocationRequest request) {
    var outputs = stacked(predictions, request);
    if (outputs.size() != 1) {
      throw new NotAcceptableException("Accept: found %s, expected application/x-npz or application/json for the %d outputs of this model"
          .formatted(MediaType.NPY, outputs.size()));
    }
    return TensorForm.in(request) == TensorForm.ONE ? outputs.getFirst().unstack().getFirst() : outputs.getFirst();
  }

  /// For each output the records' parts on each other, as NumPy's files have no rows of different lengths.
  private static List<Tensor> stacked(List<List<Tensor>> predictions, InvocationRequest request) {
    if (!RejectedLines.of(request).isEmpty()) {
      throw new NotAcceptableException(
          "Accept: found %s, which can't hold an error in the place of a bad line; expected application/jsonlines".formatted(request.accept()));
    }
    if (predictions.isEmpty()) {
      return List.of(Tensor.of(new float[0], 0));
    }
    try {
      return IntStream.range(0, predictions.getFirst().size())
          .mapToObj(output -> Tensor.stack(predictions.stream().map(prediction -> prediction.get(output)).toList()))
          .toList();
    } catch (IllegalArgumentException e) {
      throw new NotAcceptableException(
          "Accept: the predictions have different shapes (%s), which only application/json and application/jsonlines can hold"
              .formatted(e.getMessage()), e);
    }
  }

  private LinkedHashMap<String, Tensor> named(List<Tensor> outputs) {
    var named = new LinkedHashMap<String, Tensor>();
    for (int i = 0; i < outputs.size(); i++) {
      named.put(i < names.size() ? names.get(i) : "output_" + i, outputs.get(i));
    }
    return named;
  }
}
