package dev.berth.transform;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/// The way of services for batches: each line is a record with its own id and input, and its output
/// line says what came of it. A record that fails is an error in its line and costs no other.
final class EnvelopeExchange implements Exchange {

  private static final ObjectMapper JSON = new ObjectMapper();
  private static final int BAD_REQUEST = 400;
  private static final int SERVER_FAILED = 500;

  private final Envelope envelope;
  private final Invoker invoker;
  private final Storage storage;
  private final Location output;
  private final LongAdder succeeded = new LongAdder();
  private final LongAdder failed = new LongAdder();
  private final LongAdder inputTokens = new LongAdder();
  private final LongAdder outputTokens = new LongAdder();

  EnvelopeExchange(Envelope envelope, Invoker invoker, Storage storage, Location output) {
    this.envelope = envelope;
    this.invoker = invoker;
    this.storage = storage;
    this.output = output;
  }

  @Override
  public byte[] output(Payload payload, StoredObject object) throws InterruptedException {
    return switch (payload) {
      case Payload.MiniBatch batch -> (line(batch) + "\n").getBytes(StandardCharsets.UTF_8);
      case Payload.Rejected _, Payload.WholeObject _ ->
          throw new IllegalStateException("records are lines, and nothing filters them");
    };
  }

  private String line(Payload.MiniBatch batch) throws InterruptedException {
    var line = JSON.createObjectNode();
    Optional<JsonNode> body = Optional.empty();
    try {
      var record = JSON.readTree(batch.body());
      if (record == null || !record.path(envelope.input()).isObject()) {
        return failure(
            line,
            body,
            batch,
            BAD_REQUEST,
            "expected {\"%s\": …, \"%s\": {…}}".formatted(envelope.id(), envelope.input()));
      }
      body = Optional.of(record.path(envelope.input()));
      line.put(envelope.id(), record.path(envelope.id()).asText(generatedId(batch)));
      var answer = JSON.readTree(invoker.invoke(JSON.writeValueAsBytes(body.get())).body());
      count(answer);
      envelope.answer(line, body.get(), answer, generatedId(batch));
      succeeded.increment();
      return line.toString();
    } catch (InvocationException e) {
      if (e.saysNothingOfThePayload()) {
        throw new TransformException(
            "record %d: %s".formatted(batch.firstRecord(), e.getMessage()), e);
      }
      return failure(line, body, batch, e.status().orElse(SERVER_FAILED), e.getMessage());
    } catch (JsonProcessingException e) {
      return failure(
          line,
          body,
          batch,
          body.isPresent() ? SERVER_FAILED : BAD_REQUEST,
          "%s is not JSON: %s"
              .formatted(body.isPresent() ? "the answer" : "the record", e.getOriginalMessage()));
    } catch (IOException e) {
      throw new TransformException("record %d: %s".formatted(batch.firstRecord(), e), e);
    }
  }

  private String failure(
      ObjectNode line, Optional<JsonNode> body, Payload.MiniBatch batch, int code, String message) {
    failed.increment();
    if (!line.has(envelope.id())) {
      line.put(envelope.id(), generatedId(batch));
    }
    envelope.fail(line, body, code, message, generatedId(batch));
    return line.toString();
  }

  /// BED-03: a record without an id gets one; here it is its line.
  private static String generatedId(Payload.MiniBatch batch) {
    return "RECORD%08d".formatted(batch.firstRecord());
  }

  /// Anthropic's and Amazon's models say it in one of the first two ways, OpenAI's in the third.
  private void count(JsonNode answer) {
    inputTokens.add(tokens(answer, "input_tokens", "inputTokens", "prompt_tokens"));
    outputTokens.add(tokens(answer, "output_tokens", "outputTokens", "completion_tokens"));
  }

  private static long tokens(JsonNode answer, String... names) {
    return Arrays.stream(names)
        .map(answer.path("usage")::path)
        .filter(JsonNode::isNumber)
        .mapToLong(JsonNode::asLong)
        .findFirst()
        .orElse(0);
  }

  @Override
  public void resumed(byte[] output) {
    try {
      count(new ByteArrayInputStream(output));
    } catch (IOException e) {
      throw new TransformException("found what is no line of such a job: " + e.getMessage(), e);
    }
  }

  /// Counts the records of an output that was there already.
  void countDone(Location done) {
    try (var in = storage.open(done)) {
      count(in);
    } catch (IOException e) {
      throw new TransformException(
          "%s: found what is no output of such a job: %s".formatted(done, e.getMessage()), e);
    }
  }

  private void count(InputStream output) throws IOException {
    try (var lines = JSON.readerFor(JsonNode.class).<JsonNode>readValues(output)) {
      while (lines.hasNextValue()) {
        var line = lines.nextValue();
        var answer = envelope.answer(line);
        (answer.isMissingNode() ? failed : succeeded).increment();
        count(answer);
      }
    }
  }

  /// How many records have an error, those of outputs that were there already included.
  long errors() {
    return failed.sum();
  }

  /// Whether there are records, and each has an error.
  boolean hasOnlyErrors() {
    return failed.sum() > 0 && succeeded.sum() == 0;
  }

  /// Writes what this instance did to the job's manifest.
  ///
  /// @param name `manifest.json.out`
  void writeManifest(String name) {
    long good = succeeded.sum();
    long bad = failed.sum();
    var manifest =
        JSON.createObjectNode()
            .put("totalRecordCount", good + bad)
            .put("processedRecordCount", good + bad)
            .put("successRecordCount", good)
            .put("errorRecordCount", bad)
            .put("inputTokenCount", inputTokens.sum())
            .put("outputTokenCount", outputTokens.sum());
    try (var out = storage.create(output.resolve(name), Optional.of("application/json"))) {
      out.write(manifest.toString().getBytes(StandardCharsets.UTF_8));
      out.commit();
    }
  }
}
