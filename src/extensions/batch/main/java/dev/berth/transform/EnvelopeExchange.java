package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.hooks.BadInputException;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The way of services for batches: each line is a record with its own id and input, and its output
/// line says what came of it. A record that fails is an error in its line and costs no other.
final class EnvelopeExchange extends Exchange {

    private static final Logger log = LoggerFactory.getLogger(EnvelopeExchange.class);
    private static final String USAGE = "usage";

    /// Anthropic's and Amazon's models say it in one of the first two ways, OpenAI's in the third.
    private static final List<String> INPUT_TOKENS = List.of("input_tokens", "inputTokens", "prompt_tokens");

    private static final List<String> OUTPUT_TOKENS = List.of("output_tokens", "outputTokens", "completion_tokens");

    private static final int BAD_REQUEST = 400;
    private static final int SERVER_FAILED = 500;

    private final Envelope envelope;
    private final Invoker invoker;
    private final TransformJob job;
    private final Optional<AnswerImages> images;

    /// Errors that another run may not have.
    private final LongAdder passing = new LongAdder();

    private final LongAdder inputTokens = new LongAdder();
    private final LongAdder outputTokens = new LongAdder();

    EnvelopeExchange(TransformJob job, Envelopes kind, Invoker invoker, JobEnd end) {
        super(end);
        this.envelope = kind.envelope();
        this.invoker = invoker;
        this.job = job;
        this.images = kind.extract().map(type -> new AnswerImages(job, kind.envelope(), type));
    }

    @Override
    byte[] output(Payload payload, StoredObject object, Invoker.Room room) throws InterruptedException {
        // Records are lines, and nothing filters them.
        return (line(payload, object.key(), room) + "\n").getBytes(StandardCharsets.UTF_8);
    }

    private String line(Payload payload, String key, Invoker.Room room) throws InterruptedException {
        var place = "record %d: ".formatted(payload.firstRecord());
        // BED-03: a record without an id gets one; here it is its line.
        var lineId = "RECORD%08d".formatted(payload.firstRecord());
        var id = JsonText.write(lineId);
        var body = Optional.<String>empty();
        int code;
        String message;
        try {
            var record = JsonMembers.of(
                    RecordProcessing.text(payload.body(), "the record"), Set.of(envelope.id(), envelope.input()));
            var given = record.values().getOrDefault(envelope.id(), "null");
            id = given.equals("null") ? id : given;
            record.requireJson("the record");
            var input = record.values().getOrDefault(envelope.input(), "null");
            if (!input.startsWith("{")) {
                throw new BadInputException(
                        "expected {\"%s\": …, \"%s\": {…}}".formatted(envelope.id(), envelope.input()));
            }
            body = Optional.of(input);
            var answer = answer(
                    invoker.invoke(() -> BodyPublishers.ofString(input), room).body());
            came(1);
            return envelope.answered(id, input, answer, lineId);
        } catch (InvocationException e) {
            if (e.saysNothingOfThePayload()) {
                throw new TransformException(place + e.getMessage(), e);
            }
            code = e.status().orElse(SERVER_FAILED);
            message = e.getMessage();
        } catch (BadInputException e) {
            code = body.isPresent() ? SERVER_FAILED : BAD_REQUEST;
            message = e.getMessage();
        }
        passing.add(isAskedAgain(code) ? 1 : 0);
        came(1);
        failed(key, place + message);
        return envelope.failed(id, body, code, message, lineId);
    }

    /// What the container has answered, as it stands but on one line.
    private String answer(byte[] body) {
        var text = RecordProcessing.text(body, "the answer");
        var answer = JsonMembers.of(text, Set.of(USAGE));
        answer.requireJson("the answer");
        try {
            var usage = JsonText.payload(answer.values().getOrDefault(USAGE, "null"));
            inputTokens.add(tokens(usage, INPUT_TOKENS));
            outputTokens.add(tokens(usage, OUTPUT_TOKENS));
        } catch (NotJsonException _) {
            // It has a number that is longer than any count.
        }
        return JsonMembers.onOneLine(text).strip();
    }

    private static long tokens(JsonNode usage, List<String> names) {
        return names.stream()
                .map(usage::path)
                .filter(JsonNode::isNumber)
                .mapToLong(JsonNode::asLong)
                .findFirst()
                .orElse(0);
    }

    /// The error of a container may pass, that of a record stays.
    private boolean isAskedAgain(int code) {
        return code >= SERVER_FAILED || (code > 0 && job.has(JobOption.RETRY_ERRORS));
    }

    @Override
    boolean counts(Payload payload, byte[] output) {
        try {
            var names = Set.of(envelope.id(), envelope.input());
            var record = RecordProcessing.text(payload.body(), "the record");
            var line = RecordProcessing.text(output, "its output");
            return envelope.isOf(
                            JsonMembers.of(record, names).values(),
                            JsonMembers.of(line, names).values())
                    && counts(new ByteArrayInputStream(output));
        } catch (BadInputException | IOException _) {
            return false;
        }
    }

    @Override
    boolean counts(Location output) {
        try (var in = output.open()) {
            return counts(in);
        } catch (IOException e) {
            throw new TransformException(
                    "%s: found what is no output of such a job: %s".formatted(output, e.getMessage()), e);
        }
    }

    private boolean counts(InputStream in) throws IOException {
        long records = 0;
        long failed = 0;
        long input = 0;
        long output = 0;
        try (var lines = Envelope.lines(in)) {
            for (var line = lines.readLine(); line != null; line = lines.readLine()) {
                var tree = JsonText.payload(line);
                if (isAskedAgain(envelope.errorCode(tree))) {
                    return false;
                }
                var answer = envelope.answer(tree);
                records++;
                failed += answer.isMissingNode() ? 1 : 0;
                input += tokens(answer.path(USAGE), INPUT_TOKENS);
                output += tokens(answer.path(USAGE), OUTPUT_TOKENS);
            }
        }
        came(records);
        failedBefore(failed);
        inputTokens.add(input);
        outputTokens.add(output);
        return true;
    }

    @Override
    void placed(StoredObject object, boolean wasThere) {
        images.ifPresent(extracted -> extracted.add(object, wasThere));
    }

    @Override
    void finish() {
        if (envelope == Envelope.BEDROCK) {
            writeManifest();
        }
        if (passing.sum() > 0) {
            log.warn("{} records have an error of the container; the same command asks them again", passing.sum());
        }
    }

    /// What this instance did.
    private void writeManifest() {
        var manifest = JsonNodeFactory.instance
                .objectNode()
                .put("totalRecordCount", records())
                .put("processedRecordCount", records())
                .put("successRecordCount", records() - errors())
                .put("errorRecordCount", errors())
                .put("inputTokenCount", inputTokens.sum())
                .put("outputTokenCount", outputTokens.sum());
        try (var out = job.output()
                .resolve(job.part().named("manifest.json") + ".out")
                .create(Optional.of("application/json"))) {
            out.write(JsonText.bytes(manifest));
            out.commit();
        }
    }
}
