package dev.berth.transform;

import dev.berth.content.RecordReader;
import dev.berth.hooks.BadInputException;
import dev.berth.transform.Payload.Sent;
import java.io.BufferedInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Optional;

/// Forms the payloads of one object, in order. For one thread; the stream is the caller's to close.
///
/// Under `MultiRecord` a payload holds as many whole records as fit and it may have, else one. Where answers are
/// joined with what was filtered out of the records, that has to fit too, so that a payload never
/// needs more memory than its limit allows. An unlimited payload (`MaxPayloadInMB` 0) is the whole
/// object, unless it has to be a single record, or to be filtered or joined.
///
/// An empty object is one empty request where nothing is split, and none else: it has no records.
/// (Local mode sends an empty request for it under `Line` and `MultiRecord` too.)
final class MiniBatches {

    private final RecordReader reader;
    private final Splitting splitting;
    private final Records job;

    /// The object, where all of it is one payload that has not been given.
    private Optional<InputStream> whole = Optional.empty();

    /// How many of the object's records have been read, or were before these.
    private long records;

    /// What was read and did not fit.
    private final ArrayDeque<Sent> waiting = new ArrayDeque<>();

    MiniBatches(InputStream object, Splitting splitting, Records job) {
        this(
                isSentWhole(splitting, job) ? Optional::empty : splitting.open(new BufferedInputStream(object)),
                0,
                splitting,
                job);
        whole = Optional.of(object).filter(_ -> isSentWhole(splitting, job));
    }

    private static boolean isSentWhole(Splitting splitting, Records job) {
        return splitting.isUnlimited()
                && job.processing().isEmpty()
                && (!splitting.splitType().isSplit() || splitting.isMultiRecord());
    }

    /// Of records that are not to be split: the rows of a table, or the lines of a range of an
    /// object, in which nothing is unlimited.
    ///
    /// @param recordsBefore how many the object has before these
    MiniBatches(RecordReader reader, long recordsBefore, Splitting splitting, Records job) {
        this.reader = reader;
        this.records = recordsBefore;
        this.splitting = splitting;
        this.job = job;
    }

    /// The bytes that the next payload may have at most in memory: its body, or what that is made of.
    ///
    /// @param left what the object has at most
    long mostBytes(long left) {
        return whole.isPresent() ? 0 : Math.min(left, splitting.maxRecord());
    }

    /// The next payload; nothing at the end of the object.
    ///
    /// @param mostRecords that it may have
    /// @throws BadInputException naming the record that can't be sent
    Optional<Payload> next(int mostRecords) throws IOException {
        if (whole.isPresent()) {
            // It is opened again to be sent.
            boolean hasRecords = !splitting.splitType().isSplit() || whole.get().read() >= 0;
            whole = Optional.empty();
            return Optional.of(Payload.OBJECT).filter(_ -> hasRecords);
        }
        if (peek().isEmpty()) {
            return Optional.empty();
        }
        var batch = new ArrayList<Sent>();
        long inputLeft = splitting.maxRecord();
        long bodyLeft = splitting.maxRecord();
        do {
            batch.add(waiting.remove());
            inputLeft -= batch.getLast().input().length;
            bodyLeft -= batch.getLast().body().length;
        } while (batch.size() < mostRecords && mayHaveMore(batch.getLast()) && fits(peek(), inputLeft, bodyLeft));
        if (splitting.splitType().areLines()) {
            // At the end of a body a blank line would not count. At the end of a range it does.
            while (batch.size() > 1 && LineReader.isBlank(batch.getLast().body())) {
                waiting.addFirst(batch.removeLast());
            }
        }
        return Optional.of(new Payload(records - waiting.size() - batch.size() + 1, batch));
    }

    private boolean mayHaveMore(Sent last) {
        return splitting.isMultiRecord()
                && !last.endsBatch()
                && last.rejection().isEmpty();
    }

    private static boolean fits(Optional<Sent> next, long inputLeft, long bodyLeft) {
        return next.filter(record -> record.rejection().isEmpty()
                        && record.input().length <= inputLeft
                        && record.body().length <= bodyLeft)
                .isPresent();
    }

    /// The next record, which stays the next one.
    private Optional<Sent> peek() throws IOException {
        if (waiting.isEmpty()) {
            var record = reader.next();
            if (record.isPresent()) {
                records++;
                waiting.add(read(record.get()));
            }
        }
        return Optional.ofNullable(waiting.peek());
    }

    private Sent read(byte[] input) {
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
            return new Sent(input, new byte[0], input.length, reader.endsBatch(), Optional.of(e.getMessage()));
        }
        if (body.length > splitting.maxRecord()) {
            throw new BadInputException("record %d: found %d bytes after InputFilter, expected at most %d in one record"
                    .formatted(records, body.length, splitting.maxRecord()));
        }
        // What was filtered out is only needed where it is joined.
        boolean isKept =
                job.processing().filter(RecordProcessing::joinsUnfilteredInput).isPresent();
        return new Sent(isKept ? input : body, body, input.length, reader.endsBatch(), Optional.empty());
    }
}
