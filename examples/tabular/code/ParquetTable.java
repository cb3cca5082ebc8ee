import dev.berth.hooks.BadInputException;
import dev.hardwood.HardwoodContext;
import dev.hardwood.InputFile;
import dev.hardwood.reader.ParquetFileReader;
import dev.hardwood.schema.ColumnProjection;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;

/// Reads Parquet files with Hardwood, which needs no Hadoop.
final class ParquetTable implements AutoCloseable {

    private final List<String> columns;
    private final int mostRows;

    /// One thread: the requests have the other cores.
    private final HardwoodContext threads = HardwoodContext.create(1);

    /// @param columns those that are read, each of numbers
    ParquetTable(List<String> columns, int mostRows) {
        this.columns = columns;
        this.mostRows = mostRows;
    }

    /// @throws BadInputException when it is no such file, or a column is missing
    List<float[]> rows(byte[] body) {
        try {
            new ParquetSizes(body, mostRows).check();
            try (var file = ParquetFileReader.open(InputFile.of(ByteBuffer.wrap(body)), threads)) {
                return rows(file);
            }
        } catch (BadInputException e) {
            throw e;
        } catch (IOException | RuntimeException e) {
            // The library has an exception of its own for each way to be damaged.
            throw new BadInputException(
                    "body: found no Parquet file that can be read: " + (e.getMessage() == null ? e : e.getMessage()),
                    e);
        }
    }

    private List<float[]> rows(ParquetFileReader file) {
        for (var column : columns) {
            if (file.getFileSchema().getColumns().stream()
                    .noneMatch(there -> there.name().equals(column))) {
                throw new BadInputException("%s: found no such column".formatted(column));
            }
        }
        var rows = new ArrayList<float[]>();
        var projection = ColumnProjection.columns(columns.toArray(String[]::new));
        try (var reader = file.buildRowReader().projection(projection).build()) {
            while (reader.hasNext()) {
                reader.next();
                if (rows.size() == mostRows) {
                    throw Inference.tooManyRows(rows.size() + 1L, mostRows);
                }
                float[] numbers = new float[columns.size()];
                for (int i = 0; i < numbers.length; i++) {
                    numbers[i] = Inference.number(columns.get(i), rows.size(), reader.getValue(columns.get(i)));
                }
                rows.add(numbers);
            }
        }
        return rows;
    }

    @Override
    public void close() {
        threads.close();
    }
}
