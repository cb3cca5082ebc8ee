package dev.berth.columnar;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.table.Table;
import dev.berth.table.TableAnswers;
import java.io.Closeable;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.WritableByteChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import org.apache.arrow.memory.BufferAllocator;
import org.apache.arrow.vector.BigIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.complex.ListVector;
import org.apache.arrow.vector.dictionary.DictionaryEncoder;
import org.apache.arrow.vector.types.FloatingPointPrecision;
import org.apache.arrow.vector.types.pojo.ArrowType;
import org.apache.arrow.vector.types.pojo.Field;
import org.apache.arrow.vector.types.pojo.FieldType;

/// A file of Arrow's record batches. A joined table has the columns of the input as they are,
/// dictionaries too, and those of the answers behind them.
final class ArrowTable implements Table {

    private final Path file;
    private final ArrowForm form;
    private final ArrowBatches batches;
    private final JsonRow json = new JsonRow();

    /// Of the batch, without dictionaries.
    private final List<FieldVector> columns = new ArrayList<>();

    private final List<FieldVector> decoded = new ArrayList<>();
    private int rows;
    private int given;
    private long before;

    ArrowTable(Path file, ArrowForm form) throws IOException {
        this.file = file;
        this.form = form;
        this.batches = ArrowBatches.open(file, form);
    }

    @Override
    public Optional<byte[]> next() throws IOException {
        if (given == rows && !begin()) {
            return Optional.empty();
        }
        int row = given++;
        return Optional.of(UnreadableTable.whileReading(
                "Arrow",
                () -> json.line(out -> {
                    out.writeStartObject();
                    for (int i = 0; i < columns.size(); i++) {
                        var name = batches.batch().getVector(i).getName();
                        out.writeFieldName(name);
                        try {
                            ArrowJson.write(columns.get(i), row, out);
                        } catch (IOException e) {
                            throw new IOException("column %s: %s".formatted(name, e.getMessage()), e);
                        }
                    }
                    out.writeEndObject();
                })));
    }

    private boolean begin() throws IOException {
        closeDecoded();
        before = batches.bytesRead();
        given = 0;
        rows = 0;
        if (!batches.next()) {
            return false;
        }
        rows = batches.batch().getRowCount();
        for (var column : batches.batch().getFieldVectors()) {
            columns.add(UnreadableTable.whileReading("Arrow", () -> plain(column)));
        }
        return true;
    }

    private FieldVector plain(FieldVector column) {
        var dictionary = column.getField().getDictionary();
        if (dictionary == null) {
            return column;
        }
        var plain = (FieldVector)
                DictionaryEncoder.decode(column, batches.dictionaries().lookup(dictionary.getId()), batches.memory());
        decoded.add(plain);
        return plain;
    }

    private void closeDecoded() {
        columns.clear();
        decoded.forEach(FieldVector::close);
        decoded.clear();
    }

    @Override
    public boolean endsGroup() {
        return given == rows;
    }

    @Override
    public long position() {
        return before;
    }

    @Override
    public void write(TableAnswers said, OutputStream out) throws IOException {
        long count = count();
        var names = batches.batch().getSchema().getFields().stream()
                .map(Field::getName)
                .collect(Collectors.toSet());
        try (var input = ArrowBatches.open(file, form);
                var answers = Answers.open(said, count, names)) {
            // With the first batch come the dictionaries, which stand in front of it.
            boolean isThere = input.next();
            var made = answers.columns().stream()
                    .map(column -> vector(column, input.memory()))
                    .toList();
            var vectors = new ArrayList<>(said.areJoined() ? input.batch().getFieldVectors() : List.of());
            vectors.addAll(made);
            var output = new VectorSchemaRoot(vectors);
            Closeable ownVectors = () -> made.forEach(FieldVector::close);
            try (ownVectors;
                    var writer = form.writer(output, input.dictionaries(), new Unclosed(Channels.newChannel(out)))) {
                writer.start();
                while (isThere) {
                    int rows = input.batch().getRowCount();
                    fill(made, answers, rows);
                    output.setRowCount(rows);
                    writer.writeBatch();
                    isThere = input.next();
                }
                writer.end();
            }
        }
    }

    private long count() throws IOException {
        long count = 0;
        try (var all = ArrowBatches.open(file, form)) {
            while (all.next()) {
                count += all.batch().getRowCount();
            }
        }
        return count;
    }

    private static FieldVector vector(AnswerColumn column, BufferAllocator memory) {
        return switch (column.kind()) {
            case BOOLEAN -> new BitVector(column.name(), memory);
            case INTEGER -> new BigIntVector(column.name(), memory);
            case NUMBER -> new Float8Vector(column.name(), memory);
            case NUMBERS -> {
                var list = ListVector.empty(column.name(), memory);
                list.addOrGetVector(FieldType.nullable(new ArrowType.FloatingPoint(FloatingPointPrecision.DOUBLE)));
                yield list;
            }
            case TEXT -> new VarCharVector(column.name(), memory);
        };
    }

    private static void fill(List<FieldVector> vectors, Answers answers, int rows) throws IOException {
        for (var vector : vectors) {
            vector.reset();
            vector.setInitialCapacity(rows);
            vector.allocateNew();
        }
        for (int row = 0; row < rows; row++) {
            var answer = answers.next();
            for (int i = 0; i < vectors.size(); i++) {
                var value = answers.columns().get(i).value(answer);
                if (value.isPresent()) {
                    set(vectors.get(i), row, value.get());
                }
            }
        }
    }

    private static void set(FieldVector vector, int row, JsonNode value) {
        switch (vector) {
            case BitVector bits -> bits.setSafe(row, value.booleanValue() ? 1 : 0);
            case BigIntVector integers -> integers.setSafe(row, value.longValue());
            case Float8Vector numbers -> numbers.setSafe(row, value.doubleValue());
            case ListVector list -> {
                var numbers = (Float8Vector) list.getDataVector();
                int start = list.startNewValue(row);
                for (int i = 0; i < value.size(); i++) {
                    numbers.setSafe(start + i, value.get(i).doubleValue());
                }
                list.endValue(row, value.size());
            }
            case VarCharVector texts ->
                texts.setSafe(row, AnswerColumn.text(value).getBytes(StandardCharsets.UTF_8));
            default -> throw new IllegalStateException("no answers are in a " + vector);
        }
    }

    @Override
    public void close() throws IOException {
        closeDecoded();
        batches.close();
    }

    /// Arrow's writers close what they write to, which is the caller's.
    private record Unclosed(WritableByteChannel out) implements WritableByteChannel {

        @Override
        public int write(ByteBuffer bytes) throws IOException {
            return out.write(bytes);
        }

        @Override
        public boolean isOpen() {
            return true;
        }

        @Override
        public void close() {}
    }
}
