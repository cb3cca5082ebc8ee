package dev.berth.content;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.StreamReadConstraints;
import com.fasterxml.jackson.core.exc.StreamConstraintsException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.ser.DefaultSerializerProvider;
import com.fasterxml.jackson.databind.type.TypeFactory;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/// JSON (RFC 8259) in and out.
public final class Json extends ContentType
    implements ContentType.DocumentReader,
        ContentType.DocumentWriter,
        ContentType.TensorReader,
        ContentType.TensorWriter {

  /// The server limits the payload's size; a text in it may be as long as that.
  static final StreamReadConstraints ANY_LENGTH =
      StreamReadConstraints.builder().maxStringLength(Integer.MAX_VALUE).build();

  private static final JsonMapper JSON =
      JsonMapper.builder(JsonFactory.builder().streamReadConstraints(ANY_LENGTH).build()).build();

  /// For [ContentTypes] alone.
  Json() {
    super(List.of(MediaType.JSON), List.of("json"), Framing.NONE);
  }

  /// Reads the one value that a body holds.
  ///
  /// @throws BadInputException with the line and column where the body stops to be JSON
  public static JsonNode read(InvocationRequest request) throws IOException {
    return parse(request.text(), "body");
  }

  /// Reads the one value that a text holds.
  ///
  /// @param name what messages call the text, such as `line 3`
  /// @throws BadInputException with the place where the text stops to be JSON
  public static JsonNode parse(String text, String name) {
    try (var parser = new CountedParser(JSON.createParser(text))) {
      if (parser.nextToken() == null) {
        throw new BadInputException("%s: found nothing, expected JSON".formatted(name));
      }
      JsonNode value = JSON.readTree(parser);
      if (parser.nextToken() != null) {
        throw new BadInputException(
            "%s: found a second JSON value at line %d, column %d; for JSON Lines the content type is application/jsonlines"
                .formatted(
                    name,
                    parser.currentTokenLocation().getLineNr(),
                    parser.currentTokenLocation().getColumnNr()));
      }
      return value;
    } catch (StreamConstraintsException e) {
      throw new BadInputException("%s: found %s".formatted(name, limit(e)), e);
    } catch (JsonProcessingException e) {
      throw new BadInputException(
          "%s: not JSON%s: %s".formatted(name, place(text, e), e.getOriginalMessage()), e);
    } catch (IOException e) {
      throw new IllegalStateException("a text is in memory already", e);
    }
  }

  /// A value of plain Java as [#write] writes it.
  static JsonNode tree(Object value) {
    return JSON.valueToTree(value);
  }

  /// Writes a value of plain Java: records, maps, lists, texts, numbers, [JsonNode]. Without line
  /// breaks, so that it may be a line of JSON Lines.
  public static String write(Object value) {
    try {
      return JSON.writeValueAsString(value);
    } catch (JsonProcessingException e) {
      throw new IllegalArgumentException(
          "found a value that has no JSON: " + e.getOriginalMessage(), e);
    }
  }

  /// Lets the classes go that values had, so that those of a model can be unloaded with it.
  public static void forgetClasses() {
    // Of all mappers: they share this one.
    TypeFactory.defaultInstance().clearCache();
    ((DefaultSerializerProvider) JSON.getSerializerProvider()).flushCachedSerializers();
  }

  @Override
  public Documents readDocuments(InvocationRequest request, List<String> fields)
      throws IOException {
    return new Documents.Body(read(request));
  }

  @Override
  public InvocationResponse writeDocuments(
      List<?> documents, List<String> fields, Instances.Form form, MediaType accept) {
    return InvocationResponse.of(write(Instances.answer(documents, form)), accept);
  }

  /// The forms of [Instances], and TensorFlow Serving's column form: `{"inputs": …}` holds the
  /// batches of all records, input by input, and is answered by `{"outputs": …}`.
  @Override
  public TensorRecords readTensors(InvocationRequest request, TensorInputs inputs)
      throws IOException {
    var body = read(request);
    if (body.has("inputs") && !inputs.names().contains("inputs")) {
      return TensorRecords.rows(
          JsonTensors.columns(body.path("inputs"), inputs, "inputs"),
          "inputs",
          Instances.Form.COLUMNS);
    }
    var instances = Instances.read(body);
    var values = instances.values();
    return new TensorRecords(
        values.size(),
        i -> JsonTensors.record(values.get(i), inputs, instances.name(i)),
        instances.form());
  }

  @Override
  public InvocationResponse writeTensors(TensorPredictions predictions, MediaType accept) {
    predictions.chargeElements(TensorPredictions.NUMBER_AS_TEXT);
    var value =
        predictions.form() == Instances.Form.COLUMNS
            ? Map.of("outputs", JsonTensors.outputs(predictions.stacked(accept), predictions))
            : Instances.answer(JsonTensors.answers(predictions), predictions.form());
    return InvocationResponse.of(write(value), accept);
  }

  /// What is beyond a limit of the parser, in the words of those who wrote it: Jackson names its
  /// own class.
  private static String limit(StreamConstraintsException e) {
    var message = e.getOriginalMessage();
    if (message.contains("nesting depth")) {
      return "JSON that is nested too deep, expected at most %d levels"
          .formatted(ANY_LENGTH.getMaxNestingDepth());
    }
    if (message.startsWith("Number")) {
      return "a number that is too long, expected at most %d digits"
          .formatted(ANY_LENGTH.getMaxNumberLength());
    }
    return message.startsWith("Name")
        ? "a name that is too long, expected at most %d characters"
            .formatted(ANY_LENGTH.getMaxNameLength())
        : "JSON that is too long, expected less";
  }

  /// Where the text stops to be JSON; one line needs no line number.
  private static String place(String text, JsonProcessingException e) {
    var location = e.getLocation();
    if (location == null) {
      return "";
    }
    return text.indexOf('\n') < 0
        ? " at column " + location.getColumnNr()
        : " at line %d, column %d".formatted(location.getLineNr(), location.getColumnNr());
  }
}
