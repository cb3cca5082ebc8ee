package dev.berth.transform;

import dev.berth.content.RecordReader;
import dev.berth.hooks.BadInputException;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Optional;

/// Forms the payloads of one object, in order. For one thread; the stream is the caller's to close.
///
/// Under `MultiRecord` a payload holds as many whole records as fit, else one. Where answers are
/// joined with what was filtered out of the records, that has to fit too, so that a payload never
/// needs more memory than its limit allows. An unlimited payload (`MaxPayloadInMB` 0) is the whole
/// object, unless it has to be a single record, or to be filtered or joined.
///
/// An empty object is one empty request where nothing is split, and none else: it has no records.
/// (Local mode sends an empty request for it under `Line` and `MultiRecord` too.)
final class MiniBatches {

    private final InputStream object;
    private final Splitting splitting;
    private final Records job;
    private final RecordReader reader;
    private final boolean isStreamed;
    private boolean isStarted;
    private long records;

    /// What was read and did not fit.
    private final ArrayDeque<Sent> waiting = new ArrayDeque<>();

    /// A record as it was and as it is sent.
    ///
    /// @param endsBatch see [RecordReader#endsBatch]
    /// @param rejection why it is not sent
    private record Sent(byte[] input, byte[] body, boolean endsBatch, Optional<String> rejection) {}

    MiniBatches(InputStream object, Splitting splitting, Records job) {
        // The reader takes its bytes from the same buffer.
        this.object = new BufferedInputStream(object);
        this.reader = splitting.open(this.object);
        this.splitting = splitting;
        this.job = job;
        this.isStreamed = splitting.isUnlimited()
                && job.processing().isEmpty()
                && (!splitting.splitType().isSplit() || splitting.isMultiRecord());
    }

    /// Of records that are not to be split: the rows of a table, or the lines of a range of an
    /// object, in which nothing is unlimited.
    ///
    /// @param recordsBefore how many the object has before these
    MiniBatches(RecordReader reader, long recordsBefore, Splitting splitting, Records job) {
        this.object = InputStream.nullInputStream();
        this.reader = reader;
        this.records = recordsBefore;
        this.splitting = splitting;
        this.job = job;
        this.isStreamed = false;
    }

    /// The bytes that the next payload may have at most in memory: its body, or what that is made of.
    ///
    /// @param left what the object has at most
    long mostBytes(long left) {
        return isStreamed ? 0 : Math.min(left, splitting.maxRecord());
    }

    /// The next payload; nothing at the end of the object.
    ///
    /// @throws BadInputException naming the record that can't be sent
    Optional<Payload> next() throws IOException {
        return isStreamed ? wholeObject() : miniBatch();
    }

    private Optional<Payload> wholeObject() throws IOException {
        if (isStarted || (splitting.splitType().isSplit() && isEmpty())) {
            return Optional.empty();
        }
        isStarted = true;
        return Optional.of(new Payload.WholeObject(object));
    }

    private boolean isEmpty() throws IOException {
        object.mark(1);
        int first = object.read();
        object.reset();
        return first < 0;
    }

    private Optional<Payload> miniBatch() throws IOException {
        var next = take();
        if (next.isEmpty()) {
            return Optional.empty();
        }
        if (next.get().rejection.isPresent()) {
            return Optional.of(
                    new Payload.Rejected(next.get().input, next.get().rejection.get()));
        }
        int maxPayload = splitting.maxRecord();
        var batch = new ArrayList<Sent>();
        long inputBytes = 0;
        long bodyBytes = 0;
        do {
            batch.add(next.get());
            inputBytes += next.get().input.length;
            bodyBytes += next.get().body.length;
            next = splitting.isMultiRecord() && !next.get().endsBatch ? take() : Optional.empty();
        } while (next.isPresent()
                && next.get().rejection.isEmpty()
                && inputBytes + next.get().input.length <= maxPayload
                && bodyBytes + next.get().body.length <= maxPayload);
        next.ifPresent(waiting::addFirst);
        if (splitting.splitType().areLines()) {
            // At the end of a body a blank line would not count. At the end of a range it does.
            while (batch.size() > 1 && LineReader.isBlank(batch.getLast().body)) {
                waiting.addFirst(batch.removeLast());
            }
        }
        return Optional.of(new Payload.MiniBatch(
                records - waiting.size() - batch.size() + 1,
                batch.stream().map(Sent::body).toList(),
                batch.stream().map(Sent::input).toList()));
    }

    private Optional<Sent> take() throws IOException {
        return waiting.isEmpty() ? read() : Optional.of(waiting.poll());
    }

    private Optional<Sent> read() throws IOException {
        var record = reader.next();
        if (record.isEmpty()) {
            return Optional.empty();
        }
        records++;
        var input = record.get();
        byte[] body;
        try {
            if (job.keepsBadRecords() && LineReader.isBlank(input)) {
                throw new BadInputException("line %d: found a blank line, expected a record".formatted(records));
            }
            body = job.processing().isPresent() ? job.processing().get().filterInput(input, records) : input;
        } catch (BadInputException e) {
            if (!job.keepsBadRecords()) {
                throw e;
            }
            return Optional.of(new Sent(input, new byte[0], reader.endsBatch(), Optional.of(e.getMessage())));
        }
        if (body.length > splitting.maxRecord()) {
            throw new BadInputException("record %d: found %d bytes after InputFilter, expected at most %d in one record"
                    .formatted(records, body.length, splitting.maxRecord()));
        }
        // What was filtered out is only needed where it is joined.
        boolean isKept =
                job.processing().filter(RecordProcessing::joinsUnfilteredInput).isPresent();
        return Optional.of(new Sent(isKept ? input : body, body, reader.endsBatch(), Optional.empty()));
    }
}
