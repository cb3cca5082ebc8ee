import dev.berth.hooks.BadInputException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import org.apache.arrow.flatbuf.Message;
import org.apache.arrow.flatbuf.MessageHeader;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.memory.RootAllocator;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.VectorSchemaRoot;
import org.apache.arrow.vector.ipc.ArrowStreamReader;
import org.apache.arrow.vector.ipc.ArrowStreamWriter;

/// Reads and writes Arrow's streams, as `pyarrow.ipc.new_stream` does.
///
/// @param columns those that are read, each of numbers
record ArrowTable(List<String> columns, int mostRows) {

    /// Of one request, outside of the heap.
    private static final long MOST_BYTES = 64L << 20;

    /// Stands before a message, and tells it from the older form without it.
    private static final int CONTINUES = -1;

    /// @throws BadInputException when it is no such stream, or a column is missing
    List<float[]> rows(byte[] body) {
        try (var allocator = new RootAllocator(MOST_BYTES)) {
            checkLengths(body);
            try (var reader = new ArrowStreamReader(new ByteArrayInputStream(body), allocator)) {
                var rows = new ArrayList<float[]>();
                while (reader.loadNextBatch()) {
                    read(reader.getVectorSchemaRoot(), rows);
                }
                return rows;
            }
        } catch (BadInputException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            // The library has an exception of its own for each way to be damaged.
            throw new BadInputException(
                    "body: found no Arrow stream: " + (e.getMessage() == null ? e : e.getMessage()), e);
        }
    }

    byte[] write(String column, float[] values) throws IOException {
        var bytes = new ByteArrayOutputStream();
        try (var allocator = new RootAllocator(MOST_BYTES);
                var vector = new Float4Vector(column, allocator)) {
            vector.allocateNew(values.length);
            for (int row = 0; row < values.length; row++) {
                vector.set(row, values[row]);
            }
            vector.setValueCount(values.length);
            try (var table = VectorSchemaRoot.of(vector);
                    var writer = new ArrowStreamWriter(table, null, bytes)) {
                writer.writeBatch();
            }
        }
        return bytes.toByteArray();
    }

    private void read(VectorSchemaRoot batch, List<float[]> rows) {
        int count = batch.getRowCount();
        if (rows.size() + count > mostRows) {
            throw Inference.tooManyRows(rows.size() + (long) count, mostRows);
        }
        var vectors = columns.stream().map(column -> vector(batch, column)).toList();
        for (int row = 0; row < count; row++) {
            float[] numbers = new float[columns.size()];
            for (int i = 0; i < numbers.length; i++) {
                numbers[i] = Inference.number(
                        columns.get(i), rows.size(), vectors.get(i).getObject(row));
            }
            rows.add(numbers);
        }
    }

    private static FieldVector vector(VectorSchemaRoot batch, String column) {
        var vector = batch.getVector(column);
        if (vector == null) {
            throw new BadInputException("%s: found no such column".formatted(column));
        }
        return vector;
    }

    /// The reader makes room for what a message says of itself before it looks whether that is there,
    /// and keeps memory when a column lies outside of its message.
    private static void checkLengths(byte[] body) {
        var bytes = ByteBuffer.wrap(body).order(ByteOrder.LITTLE_ENDIAN);
        while (bytes.hasRemaining()) {
            int length = bytes.getInt();
            if (length == CONTINUES) {
                length = bytes.getInt();
            }
            if (length == 0) {
                return;
            }
            var message = Message.getRootAsMessage(take(bytes, length));
            long bodyLength = message.bodyLength();
            if (message.headerType() == MessageHeader.RecordBatch
                    || message.headerType() == MessageHeader.DictionaryBatch) {
                checkBuffers(message, bodyLength);
            }
            take(bytes, bodyLength);
        }
    }

    private static void checkBuffers(Message message, long bodyLength) {
        if (message.headerType() == MessageHeader.DictionaryBatch) {
            throw new BadInputException("body: found dictionaries, expected plain columns of numbers");
        }
        var batch = (RecordBatch) message.header(new RecordBatch());
        for (int i = 0; i < batch.buffersLength(); i++) {
            var buffer = batch.buffers(i);
            if (buffer.offset() < 0 || buffer.length() < 0 || buffer.offset() > bodyLength - buffer.length()) {
                throw new BadInputException("body: found a column outside of its message");
            }
        }
    }

    private static ByteBuffer take(ByteBuffer bytes, long length) {
        if (length < 0 || length > bytes.remaining()) {
            throw new BadInputException(
                    "body: found a message of %d bytes, of which %d are there".formatted(length, bytes.remaining()));
        }
        var taken = bytes.slice(bytes.position(), (int) length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.position(bytes.position() + (int) length);
        return taken;
    }
}
