package dev.berth.http.protocol;

import static dev.berth.http.protocol.InferParameters.BINARY_DATA;
import static dev.berth.http.protocol.InferParameters.BINARY_DATA_OUTPUT;
import static dev.berth.http.protocol.InferParameters.BINARY_DATA_SIZE;
import static dev.berth.http.protocol.InferParameters.CONTENT_TYPE;
import static dev.berth.http.protocol.InferParameters.OF_INPUTS;
import static dev.berth.http.protocol.InferParameters.OF_OUTPUTS;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.content.Json;
import dev.berth.content.JsonTensors;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.memory.RequestMemory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/// JSON, behind which the bytes of some tensors may stand: the binary tensor data extension.
public final class JsonMessages implements Messages {

  private static final String BASE64 = "base64";

  private final InferTarget target;
  private final OptionalInt headerLength;
  private int answered;

  /// @param headerLength how much of the body is JSON; empty: all of it
  public JsonMessages(InferTarget target, OptionalInt headerLength) {
    this.target = target;
    this.headerLength = headerLength;
  }

  /// How much of the answer is JSON; empty: all of it.
  public OptionalInt answered() {
    return answered == 0 ? OptionalInt.empty() : OptionalInt.of(answered);
  }

  @Override
  public InferRequest read(InvocationRequest asked) throws IOException {
    var bytes = asked.bytes();
    int length = headerLength.orElse(bytes.length);
    if (length > bytes.length) {
      throw new BadInputException(
          "Inference-Header-Content-Length: found %d, expected at most the %d bytes of the body"
              .formatted(length, bytes.length));
    }
    var body =
        Json.parse(asked.withBody(new ByteArrayInputStream(bytes, 0, length)).text(), "body");
    if (!body.isObject()) {
      throw new BadInputException(
          "body: found %s, expected {\"inputs\": […]}".formatted(Excerpt.of(body)));
    }
    var binary = ByteBuffer.wrap(bytes, length, bytes.length - length);
    var inputs = new ArrayList<InferTensor>();
    for (var input : list(body, "inputs")) {
      inputs.add(input(input, "inputs[%d]".formatted(inputs.size()), binary));
    }
    if (binary.hasRemaining()) {
      throw new BadInputException(
          "body: found %d bytes that belong to no input, expected none; each binary input has its %s"
              .formatted(binary.remaining(), BINARY_DATA_SIZE));
    }
    var parameters = parameters(body, "parameters");
    return new InferRequest(
        optionalText(body, "id", "id"),
        inputs,
        parameters,
        wanted(body),
        Boolean.TRUE.equals(parameters.get(BINARY_DATA_OUTPUT)));
  }

  private InferTensor input(JsonNode input, String place, ByteBuffer binary) {
    var name = text(input, "name", place);
    var datatype = Datatype.named(text(input, "datatype", place), place);
    var shape = shape(input.path("shape"), place);
    var parameters = parameters(input, place + ".parameters", OF_INPUTS);
    var contentType = Optional.ofNullable(parameters.get(CONTENT_TYPE)).map(Object::toString);
    if (!parameters.containsKey(BINARY_DATA_SIZE)) {
      return data(name, datatype, shape, input.path("data"), contentType, place);
    }
    if (!(parameters.get(BINARY_DATA_SIZE) instanceof Number count)
        || count.longValue() < 0
        || count.longValue() > binary.remaining()) {
      throw new BadInputException(
          "%s.parameters.%s: found %s, expected at most the %d bytes that are left behind Inference-Header-Content-Length"
              .formatted(
                  place, BINARY_DATA_SIZE, parameters.get(BINARY_DATA_SIZE), binary.remaining()));
    }
    var raw = binary.slice(binary.position(), count.intValue());
    binary.position(binary.position() + count.intValue());
    return InferTensor.ofRaw(name, datatype, shape, raw, contentType, place);
  }

  /// A list of the elements, flat or nested as the shape is.
  private static InferTensor data(
      String name,
      Datatype datatype,
      long[] shape,
      JsonNode data,
      Optional<String> contentType,
      String place) {
    if (!data.isArray()) {
      throw new BadInputException(
          "%s.data: found %s, expected a list, or parameters.%s"
              .formatted(place, Excerpt.of(data), BINARY_DATA_SIZE));
    }
    int size = InferTensor.size(shape, place);
    var lengths = Arrays.stream(shape).mapToInt(Math::toIntExact).toArray();
    if (datatype.type().isPresent()) {
      var tensor = JsonTensors.read(data, datatype.type().get(), place + ".data");
      requireSize(tensor.size(), size, shape, place);
      return new InferTensor.Numbers(name, tensor.reshape(lengths));
    }
    var elements = new ArrayList<byte[]>();
    addTexts(data, elements, place + ".data");
    requireSize(elements.size(), size, shape, place);
    return new InferTensor.Bytes(name, lengths, elements, contentType);
  }

  private static void requireSize(int found, int expected, long[] shape, String place) {
    if (found != expected) {
      throw new BadInputException(
          "%s.data: found %d elements, expected %d for the shape %s"
              .formatted(place, found, expected, Arrays.toString(shape)));
    }
  }

  private static void addTexts(JsonNode value, List<byte[]> elements, String place) {
    if (value.isArray()) {
      value.forEach(element -> addTexts(element, elements, place));
      return;
    }
    if (!value.isTextual()) {
      throw new BadInputException(
          "%s[%d]: found %s, expected a text".formatted(place, elements.size(), Excerpt.of(value)));
    }
    RequestMemory.charge(InferTensor.ELEMENT + 3L * value.textValue().length());
    elements.add(value.textValue().getBytes(StandardCharsets.UTF_8));
  }

  private static List<InferRequest.Wanted> wanted(JsonNode body) {
    var wanted = new ArrayList<InferRequest.Wanted>();
    for (var output : body.has("outputs") ? list(body, "outputs") : List.<JsonNode>of()) {
      var place = "outputs[%d]".formatted(wanted.size());
      var parameters = parameters(output, place + ".parameters", OF_OUTPUTS);
      wanted.add(
          new InferRequest.Wanted(
              text(output, "name", place),
              Optional.ofNullable(parameters.get(BINARY_DATA)).map(Boolean.TRUE::equals)));
    }
    return wanted;
  }

  @Override
  public InvocationResponse write(InferRequest request, List<InferTensor> outputs) {
    var answer = new LinkedHashMap<String, Object>();
    answer.put("model_name", target.model());
    answer.put("model_version", target.version());
    request.id().ifPresent(id -> answer.put("id", id));
    var binary = new ArrayList<ByteBuffer>();
    answer.put(
        "outputs",
        outputs.stream().map(output -> output(output, isBinary(output, request), binary)).toList());
    var json = Json.write(answer).getBytes(StandardCharsets.UTF_8);
    if (binary.isEmpty() && outputs.stream().noneMatch(output -> isBinary(output, request))) {
      return InvocationResponse.of(json, MediaType.JSON);
    }
    answered = json.length;
    int length = binary.stream().mapToInt(ByteBuffer::remaining).sum();
    RequestMemory.charge(2L * length);
    var body = new ByteArrayOutputStream(json.length + length);
    body.writeBytes(json);
    for (var part : binary) {
      var bytes = new byte[part.remaining()];
      part.duplicate().get(bytes);
      body.writeBytes(bytes);
    }
    return InvocationResponse.of(body.toByteArray(), InferDialect.BINARY);
  }

  private static boolean isBinary(InferTensor output, InferRequest request) {
    return request.wanted().stream()
        .filter(wanted -> wanted.name().equals(output.name()))
        .findFirst()
        .flatMap(InferRequest.Wanted::binary)
        .orElse(request.binary());
  }

  private static Map<String, Object> output(
      InferTensor output, boolean isBinary, List<ByteBuffer> binary) {
    var json = new LinkedHashMap<String, Object>();
    json.put("name", output.name());
    json.put("datatype", output.datatype());
    json.put("shape", output.shape());
    var parameters = new LinkedHashMap<String, Object>();
    output.contentType().ifPresent(type -> parameters.put(CONTENT_TYPE, type));
    if (isBinary) {
      var raw = output.raw();
      parameters.put(BINARY_DATA_SIZE, raw.stream().mapToInt(ByteBuffer::remaining).sum());
      binary.addAll(raw);
    }
    var data = isBinary ? null : data(output, parameters);
    if (!parameters.isEmpty()) {
      json.put("parameters", parameters);
    }
    if (data != null) {
      json.put("data", data);
    }
    return json;
  }

  private static Object data(InferTensor output, Map<String, Object> parameters) {
    return switch (output) {
      case InferTensor.Numbers(_, var tensor) -> {
        RequestMemory.charge(120L * tensor.size());
        yield JsonTensors.write(tensor.reshape(tensor.size()));
      }
      case InferTensor.Bytes bytes -> {
        RequestMemory.charge(
            4L * bytes.elements().stream().mapToLong(element -> element.length).sum());
        var texts = bytes.elements().stream().map(JsonMessages::text).toList();
        if (texts.stream().allMatch(Optional::isPresent)) {
          yield texts.stream().map(Optional::get).toList();
        }
        parameters.putIfAbsent(CONTENT_TYPE, BASE64);
        yield bytes.elements().stream().map(Base64.getEncoder()::encodeToString).toList();
      }
    };
  }

  /// Nothing where the bytes are not UTF-8.
  static Optional<String> text(byte[] bytes) {
    try {
      return Optional.of(
          StandardCharsets.UTF_8.newDecoder().decode(ByteBuffer.wrap(bytes)).toString());
    } catch (CharacterCodingException _) {
      return Optional.empty();
    }
  }

  private static List<JsonNode> list(JsonNode object, String field) {
    var list = object.path(field);
    if (!list.isArray()) {
      throw new BadInputException(
          "%s: found %s, expected a list".formatted(field, Excerpt.of(list)));
    }
    return list.valueStream().toList();
  }

  private static long[] shape(JsonNode shape, String place) {
    if (!shape.isArray()
        || !shape
            .valueStream()
            .allMatch(length -> length.isIntegralNumber() && length.canConvertToLong())) {
      throw new BadInputException(
          "%s.shape: found %s, expected a list of whole numbers"
              .formatted(place, Excerpt.of(shape)));
    }
    return shape.valueStream().mapToLong(JsonNode::longValue).toArray();
  }

  private static String text(JsonNode object, String field, String place) {
    return optionalText(object, field, "%s.%s".formatted(place, field))
        .orElseThrow(
            () ->
                new BadInputException(
                    "%s.%s: found nothing, expected a text".formatted(place, field)));
  }

  private static Optional<String> optionalText(JsonNode object, String field, String place) {
    var value = object.path(field);
    if (value.isMissingNode()) {
      return Optional.empty();
    }
    if (!value.isTextual()) {
      throw new BadInputException(
          "%s: found %s, expected a text".formatted(place, Excerpt.of(value)));
    }
    return Optional.of(value.textValue());
  }

  private static Map<String, Object> parameters(JsonNode tensor, String place, List<String> known) {
    return InferParameters.known(parameters(tensor, place), known, place);
  }

  /// Texts, numbers and booleans by name.
  private static Map<String, Object> parameters(JsonNode object, String place) {
    var parameters = object.path("parameters");
    if (!parameters.isObject() && !parameters.isMissingNode() && !parameters.isNull()) {
      throw new BadInputException(
          "%s: found %s, expected an object".formatted(place, Excerpt.of(parameters)));
    }
    var values = new LinkedHashMap<String, Object>();
    parameters.forEachEntry(
        (name, value) -> {
          if (value.isTextual()) {
            values.put(name, value.textValue());
          } else if (value.isNumber()) {
            values.put(name, value.numberValue());
          } else if (value.isBoolean()) {
            values.put(name, value.booleanValue());
          } else if (!value.isNull()) {
            // Hooks may have parameters of any form.
            values.put(name, value);
          }
        });
    return values;
  }
}
