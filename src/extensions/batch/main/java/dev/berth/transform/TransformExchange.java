package dev.berth.transform;

import dev.berth.content.JsonLines;
import dev.berth.hooks.MediaType;
import dev.berth.storage.Location;
import dev.berth.storage.StoredObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.http.HttpRequest.BodyPublisher;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// SageMaker's way: the container gets the payload, and its answer is joined, filtered and written.
final class TransformExchange extends Exchange {

    /// An error that stands in the place of an answer names the line within its request.
    private static final Pattern PLACE_OF_ERROR =
            Pattern.compile("(?m)^(\\{\"error\":\"|\"?ERROR: )(line|row) (\\d{1,9}): (?=(.*))");

    /// The same in an output, where it may be joined with its record.
    private static final Pattern KEPT_ERROR =
            Pattern.compile("(?m)(?:^|[:,])(?:\\{\"error\":\"|\"?ERROR: )(?:line|row|record) \\d{1,19}[:,] ");

    private final Records records;
    private final boolean retriesErrors;
    private final boolean areTables;
    private final Invoker invoker;
    private final ObjectSource source;

    /// In outputs that were there already.
    private volatile boolean isErrorThere;

    private volatile boolean isAnyThere;

    TransformExchange(TransformJob job, Invoker invoker, JobEnd end) {
        super(end);
        this.records = job.kind().records();
        this.retriesErrors = job.has(JobOption.RETRY_ERRORS);
        this.areTables = job.kind() instanceof Tables;
        this.invoker = invoker;
        this.source = job.source();
    }

    @Override
    byte[] output(Payload payload, StoredObject object, Invoker.Room room) throws InterruptedException {
        came(payload.records());
        var rejection = payload.rejection();
        return rejection.isPresent()
                ? kept(payload.input(), rejection.get(), object.key())
                : answered(payload, object, room);
    }

    private BodyPublisher body(Payload payload, StoredObject object) {
        return payload.isObject()
                ? BodyPublishers.ofInputStream(() -> opened(object))
                : BodyPublishers.ofByteArray(payload.body());
    }

    /// For one attempt, and closed by the client.
    private InputStream opened(StoredObject object) {
        try {
            return source.open(object);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private byte[] answered(Payload batch, StoredObject object, Invoker.Room room) throws InterruptedException {
        boolean keepsBadRecords = records.keepsBadRecords() && !batch.isObject();
        try {
            var answer = invoker.invoke(() -> body(batch, object), room);
            var body = keepsBadRecords ? numbered(answer.body(), object.key(), batch.firstRecord()) : answer.body();
            var processing = records.processing().filter(RecordProcessing::changesAnswers);
            if (processing.isPresent()) {
                return assembled(
                        processing.get().output(batch, body, reason -> failed(object.key(), reason)), answer.type());
            }
            requireOneForEach(batch, answer);
            return assembled(body, answer.type());
        } catch (InvocationException e) {
            if (!keepsBadRecords || e.fault() != InvocationException.Fault.OF_PAYLOAD) {
                throw new TransformException(
                        "%s: %s%s".formatted(batch.place(), e.messageIn(batch.firstRecord()), cure(e.fault(), object)),
                        e);
            }
            return batch.records() == 1
                    ? kept(batch.input(), e.reasonFor(batch.firstRecord()), object.key())
                    : inHalves(batch, object, room);
        }
    }

    /// What to do about records that the container rejects, as the end of a message.
    private String cure(InvocationException.Fault fault, StoredObject object) {
        var formats = records.formats();
        if (fault != InvocationException.Fault.OF_PAYLOAD
                || !formats.splitType().areLines()
                || source.mayBePacked(object)) {
            return "";
        }
        if (formats.contentType().orElse(MediaType.JSON.toString()).equals(MediaType.JSON.toString())) {
            return "; the type of JSON Lines is --content-type application/jsonlines";
        }
        return formats.lines().isEmpty() || records.keepsBadRecords()
                ? ""
                : "; --bad-records keep writes errors in the place of such answers";
    }

    /// Asks for the records of a rejected payload in two payloads, so that those that are not bad are
    /// answered.
    private byte[] inHalves(Payload batch, StoredObject object, Invoker.Room room) throws InterruptedException {
        var output = new ByteArrayOutputStream();
        for (var half : batch.halves()) {
            output.writeBytes(answered(half, object, room));
        }
        return output.toByteArray();
    }

    /// An error in the place of an answer.
    private byte[] kept(byte[] record, String reason, String key) {
        failed(key, reason);
        var format = RecordFormat.of(records.formats().answeredLines().orElse(MediaType.JSON));
        var error = records.processing()
                .map(filters -> filters.error(new String(record, StandardCharsets.UTF_8), reason))
                .orElseGet(() -> format.write(format.error(reason)))
                .getBytes(StandardCharsets.UTF_8);
        return assembled(error, Optional.of(MediaType.JSON_LINES));
    }

    /// The errors among answers, with the lines as their object counts them.
    private byte[] numbered(byte[] answer, String key, long first) {
        // Byte for byte, whatever the encoding is.
        var text = new String(answer, StandardCharsets.ISO_8859_1);
        return PLACE_OF_ERROR
                .matcher(text)
                .replaceAll(error -> {
                    var place = "%s %d".formatted(error.group(2), first - 1 + Integer.parseInt(error.group(3)));
                    var reason = error.group(4).replaceFirst("\"}?$", "").getBytes(StandardCharsets.ISO_8859_1);
                    failed(key, place + ": " + new String(reason, StandardCharsets.UTF_8));
                    return Matcher.quoteReplacement("%s%s: ".formatted(error.group(1), place));
                })
                .getBytes(StandardCharsets.ISO_8859_1);
    }

    /// No answer may be taken for that of another record.
    private void requireOneForEach(Payload batch, Invoker.Answer answer) {
        if (batch.isObject() || !records.formats().splitType().areLines()) {
            return;
        }
        var count = RecordFormat.count(answer.body(), answer.type());
        // A list may be the answer to one record.
        boolean mayBeOne = batch.records() == 1 && answer.type().equals(Optional.of(MediaType.JSON));
        if (count.isPresent() && count.getAsInt() != batch.records() && !mayBeOne) {
            throw new TransformException(RecordProcessing.miscounted(
                    batch.firstRecord(),
                    batch.records(),
                    count.getAsInt(),
                    records.formats().lines().equals(Optional.of(MediaType.CSV))));
        }
    }

    /// A newline after each answer, unless it ends in one: no line of the output is blank that the
    /// container did not want. Where records are lines, the texts of two answers never share one.
    private byte[] assembled(byte[] answer, Optional<MediaType> type) {
        boolean isLine = records.formats().endsLines()
                || (records.formats().splitType().areLines()
                        && answer.length > 0
                        && type.filter(TransformExchange::isText).isPresent());
        if (!isLine || (answer.length > 0 && answer[answer.length - 1] == '\n')) {
            return answer;
        }
        var line = Arrays.copyOf(answer, answer.length + 1);
        line[answer.length] = '\n';
        return line;
    }

    @Override
    boolean counts(Payload payload, byte[] output) {
        long kept = records.keepsBadRecords()
                ? KEPT_ERROR
                        .matcher(new String(output, StandardCharsets.ISO_8859_1))
                        .results()
                        .count()
                : 0;
        if (kept > 0 && retriesErrors) {
            return false;
        }
        came(payload.records());
        failedBefore(kept);
        return true;
    }

    /// Reads as far as it has to: whether any record has an answer, or an error.
    @Override
    boolean counts(Location output) {
        if (!records.keepsBadRecords() || areTables || (isAnyThere && !retriesErrors)) {
            return true;
        }
        try (var in = output.open()) {
            var lines = new LineReader(in, Integer.MAX_VALUE);
            for (var line = lines.next(); line.isPresent(); line = lines.next()) {
                boolean isError = KEPT_ERROR
                        .matcher(new String(line.get(), StandardCharsets.ISO_8859_1))
                        .find();
                isErrorThere |= isError;
                isAnyThere |= !isError;
                if (isError == retriesErrors) {
                    return !isError;
                }
            }
            return true;
        } catch (IOException e) {
            throw new TransformException("%s: %s".formatted(output, e.getMessage()), e);
        }
    }

    @Override
    boolean hasOnlyErrors() {
        return !isAnyThere && (super.hasOnlyErrors() || (isErrorThere && errors() == records()));
    }

    private static boolean isText(MediaType type) {
        return type.type().equals("text") || type.equals(MediaType.JSON) || JsonLines.TYPES.contains(type);
    }
}
