package dev.berth.transform;

import dev.berth.content.RecordReader;
import dev.berth.hooks.BadInputException;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import dev.berth.table.Table;
import dev.berth.table.TableAnswers;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;

/// An object that is a table, read row by row, and the answers to its rows, of which a table is
/// made when all are there. An object that is no local file, and the answers, are files in the
/// temporary directory until it is closed. For one thread.
final class TableObject implements RecordReader, Closeable {

    private final Tables job;
    private final int maxRecord;
    private final LongAdder read;
    private final Path directory;
    private final Path lines;
    private final ObjectWriter answers;
    private final Table table;
    private long counted;
    private long records;

    /// @param maxRecord the bytes that a row can have as JSON
    /// @param read counts the bytes that are read of the object
    TableObject(Tables job, Storage storage, StoredObject object, int maxRecord, LongAdder read) throws IOException {
        this.job = job;
        this.maxRecord = maxRecord;
        this.read = read;
        this.directory = Files.createTempDirectory("berth-table-");
        this.lines = directory.resolve("answers.jsonl");
        this.answers = storage.at(lines).create();
        try {
            this.table = job.format().open(file(storage, object));
        } catch (IOException | RuntimeException | Error e) {
            answers.close();
            deleteFiles();
            throw e;
        }
    }

    /// The formats read at many places of a file.
    private Path file(Storage storage, StoredObject object) throws IOException {
        try (var in = object.open(0)) {
            if (object.location().file().isPresent()) {
                return object.location().file().get();
            }
            var copy = directory.resolve("object");
            try (var out = storage.at(copy).create()) {
                in.transferTo(out);
                out.commit();
            }
            return copy;
        }
    }

    @Override
    public Optional<byte[]> next() throws IOException {
        var row = table.next();
        records++;
        if (row.isPresent() && row.get().length > maxRecord) {
            throw new BadInputException("row %d: found %d bytes as JSON, expected at most %d in one record"
                    .formatted(records, row.get().length, maxRecord));
        }
        long position = table.position();
        read.add(position - counted);
        counted = position;
        return row;
    }

    @Override
    public boolean endsBatch() {
        return table.endsGroup();
    }

    /// Where the answers are written, a line of JSON for each row.
    ///
    /// @param output where they go in the end
    OutputStream answers(OutputStream output) {
        return job.answersAreTable() ? answers : output;
    }

    /// Makes the output when all answers are there.
    ///
    /// @throws TransformException when no table can be made of them
    void write(OutputStream output) {
        if (!job.answersAreTable()) {
            return;
        }
        try {
            answers.commit();
            table.write(new TableAnswers(lines, job.areJoined(), job.records().keepsBadRecords()), output);
        } catch (IOException e) {
            throw new TransformException("no table can be made of the answers: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() throws IOException {
        try (table) {
            answers.close();
            deleteFiles();
        }
    }

    private void deleteFiles() throws IOException {
        Files.deleteIfExists(lines);
        Files.deleteIfExists(directory.resolve("object"));
        Files.delete(directory);
    }
}
