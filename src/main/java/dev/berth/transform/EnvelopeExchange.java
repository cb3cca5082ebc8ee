package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
import dev.berth.hooks.BadInputException;
import dev.berth.json.JsonMembers;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;

/// The way of services for batches: each line is a record with its own id and input, and its output
/// line says what came of it. A record that fails is an error in its line and costs no other.
final class EnvelopeExchange implements Exchange {

  private static final String USAGE = "usage";
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
    var line = JsonNodeFactory.instance.objectNode();
    Optional<String> body = Optional.empty();
    try {
      var record =
          JsonMembers.of(
              RecordProcessing.text(batch.body(), "the record"),
              Set.of(envelope.id(), envelope.input()));
      Optional.ofNullable(record.values().get(envelope.id()))
          .filter(id -> !id.equals("null"))
          .ifPresent(id -> line.putRawValue(envelope.id(), new RawValue(id)));
      requireJson(record, "the record");
      var input = Optional.ofNullable(record.values().get(envelope.input()));
      if (input.filter(object -> object.startsWith("{")).isEmpty()) {
        throw new BadInputException(
            "expected {\"%s\": …, \"%s\": {…}}".formatted(envelope.id(), envelope.input()));
      }
      body = input;
      var answer = answer(invoker.invoke(input.get().getBytes(StandardCharsets.UTF_8)).body());
      if (!line.has(envelope.id())) {
        line.put(envelope.id(), generatedId(batch));
      }
      envelope.answer(line, input.get(), answer, generatedId(batch));
      succeeded.increment();
      return JsonText.write(line);
    } catch (InvocationException e) {
      if (e.saysNothingOfThePayload()) {
        throw new TransformException(
            "record %d: %s".formatted(batch.firstRecord(), e.getMessage()), e);
      }
      return failure(line, body, batch, e.status().orElse(SERVER_FAILED), e.getMessage());
    } catch (BadInputException e) {
      return failure(
          line, body, batch, body.isPresent() ? SERVER_FAILED : BAD_REQUEST, e.getMessage());
    }
  }

  /// What the container has answered, as it stands but on one line.
  private String answer(byte[] body) {
    var text = RecordProcessing.text(body, "the answer");
    var answer = JsonMembers.of(text, Set.of(USAGE));
    requireJson(answer, "the answer");
    try {
      count(JsonText.payload(answer.values().getOrDefault(USAGE, "null")));
    } catch (NotJsonException _) {
      // It has a number that is longer than any count.
    }
    return JsonMembers.onOneLine(text).strip();
  }

  private static void requireJson(JsonMembers members, String name) {
    if (members.flaw().isPresent()) {
      throw new BadInputException("%s: %s".formatted(name, members.flaw().get().getMessage()));
    }
  }

  private String failure(
      ObjectNode line, Optional<String> body, Payload.MiniBatch batch, int code, String message) {
    failed.increment();
    if (!line.has(envelope.id())) {
      line.put(envelope.id(), generatedId(batch));
    }
    envelope.fail(line, body, code, message, generatedId(batch));
    return JsonText.write(line);
  }

  /// BED-03: a record without an id gets one; here it is its line.
  private static String generatedId(Payload.MiniBatch batch) {
    return "RECORD%08d".formatted(batch.firstRecord());
  }

  /// Anthropic's and Amazon's models say it in one of the first two ways, OpenAI's in the third.
  private void count(JsonNode usage) {
    inputTokens.add(tokens(usage, "input_tokens", "inputTokens", "prompt_tokens"));
    outputTokens.add(tokens(usage, "output_tokens", "outputTokens", "completion_tokens"));
  }

  private static long tokens(JsonNode usage, String... names) {
    return Arrays.stream(names)
        .map(usage::path)
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
    try (var lines = Envelope.lines(output)) {
      for (var line = lines.readLine(); line != null; line = lines.readLine()) {
        var answer = envelope.answer(JsonText.payload(line));
        (answer.isMissingNode() ? failed : succeeded).increment();
        count(answer.path(USAGE));
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
        JsonNodeFactory.instance
            .objectNode()
            .put("totalRecordCount", good + bad)
            .put("processedRecordCount", good + bad)
            .put("successRecordCount", good)
            .put("errorRecordCount", bad)
            .put("inputTokenCount", inputTokens.sum())
            .put("outputTokenCount", outputTokens.sum());
    try (var out = storage.create(output.resolve(name), Optional.of("application/json"))) {
      out.write(JsonText.bytes(manifest));
      out.commit();
    }
  }
}
