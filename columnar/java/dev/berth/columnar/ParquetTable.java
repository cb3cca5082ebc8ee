package dev.berth.columnar;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.table.Table;
import dev.berth.table.TableAnswers;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.parquet.ParquetReadOptions;
import org.apache.parquet.column.ParquetProperties;
import org.apache.parquet.conf.PlainParquetConfiguration;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.example.data.GroupWriter;
import org.apache.parquet.example.data.simple.SimpleGroup;
import org.apache.parquet.example.data.simple.convert.GroupRecordConverter;
import org.apache.parquet.hadoop.ColumnChunkPageWriteStore;
import org.apache.parquet.hadoop.ParquetFileReader;
import org.apache.parquet.hadoop.ParquetFileWriter;
import org.apache.parquet.hadoop.metadata.BlockMetaData;
import org.apache.parquet.hadoop.metadata.CompressionCodecName;
import org.apache.parquet.io.ColumnIOFactory;
import org.apache.parquet.io.OutputFile;
import org.apache.parquet.io.PositionOutputStream;
import org.apache.parquet.io.RecordReader;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.MessageType;
import org.apache.parquet.schema.PrimitiveType.PrimitiveTypeName;
import org.apache.parquet.schema.Type;
import org.apache.parquet.schema.Types;

/// A Parquet file. A joined table has the pages of its columns as they are, and those of the
/// answers behind them.
final class ParquetTable implements Table {

    private static final CompressionCodecName WRITTEN_CODEC = CompressionCodecName.SNAPPY;
    private static final ParquetProperties PROPERTIES =
            ParquetProperties.builder().build();
    private static final int COLUMN_INDEX_LENGTH = 64;

    private final ParquetInput file;
    private final ParquetFileReader reader;
    private final MessageType schema;
    private final JsonRow json = new JsonRow();
    private final List<BlockMetaData> groups;
    private int begun;
    private long before;
    private RecordReader<Group> rows;
    private long given;

    private ParquetTable(ParquetInput file, ParquetFileReader reader) {
        this.file = file;
        this.reader = reader;
        this.schema = reader.getFileMetaData().getSchema();
        this.groups = reader.getRowGroups();
    }

    static ParquetTable open(Path path) throws IOException {
        var file = new ParquetInput(path);
        var options = ParquetReadOptions.builder(new PlainParquetConfiguration())
                .withCodecFactory(new PureCodecs())
                .build();
        return UnreadableTable.whileReading(
                "Parquet", () -> new ParquetTable(file, ParquetFileReader.open(file, options)));
    }

    @Override
    public Optional<byte[]> next() throws IOException {
        while (begun == 0 || endsGroup()) {
            if (begun == groups.size()) {
                return Optional.empty();
            }
            begin();
        }
        given++;
        var row = UnreadableTable.whileReading("Parquet", rows::read);
        return Optional.of(json.line(out -> ParquetJson.write(row, schema, out)));
    }

    private BlockMetaData group() {
        return groups.get(begun - 1);
    }

    private void begin() throws IOException {
        before += begun == 0 ? 0 : group().getCompressedSize();
        given = 0;
        begun++;
        // The reader refuses groups without rows.
        if (group().getRowCount() > 0) {
            rows = UnreadableTable.whileReading(
                    "Parquet",
                    () -> new ColumnIOFactory()
                            .getColumnIO(schema)
                            .getRecordReader(reader.readRowGroup(begun - 1), new GroupRecordConverter(schema)));
        }
    }

    @Override
    public boolean endsGroup() {
        return given == group().getRowCount();
    }

    @Override
    public long position() {
        long inGroup = begun == 0 || given == 0
                ? 0
                : (long) (group().getCompressedSize() * ((double) given / group().getRowCount()));
        return before + inGroup;
    }

    @Override
    public void write(TableAnswers said, OutputStream out) throws IOException {
        long count = groups.stream().mapToLong(BlockMetaData::getRowCount).sum();
        var names = schema.getFields().stream().map(Type::getName).collect(Collectors.toSet());
        try (var answers = Answers.open(said, count, names)) {
            var answered = new MessageType(
                    schema.getName(),
                    answers.columns().stream().map(ParquetTable::type).toList());
            var written = said.areJoined() ? with(answered.getFields()) : answered;
            try (var writer = new ParquetFileWriter(
                    new Output(out), written, ParquetFileWriter.Mode.CREATE, Long.MAX_VALUE, 0, null, PROPERTIES)) {
                writer.start();
                for (var group : groups) {
                    if (group.getRowCount() > 0) {
                        writer.startBlock(group.getRowCount());
                        if (said.areJoined()) {
                            copyColumns(group, writer);
                        }
                        writeAnswers(answers, answered, group.getRowCount(), writer);
                        writer.endBlock();
                    }
                }
                // Others' metadata may tell of the columns that were there before.
                writer.end(Map.of());
            }
        }
    }

    private MessageType with(List<Type> fields) {
        return new MessageType(
                schema.getName(),
                Stream.concat(schema.getFields().stream(), fields.stream()).toList());
    }

    private static Type type(AnswerColumn column) {
        return switch (column.kind()) {
            case BOOLEAN -> Types.optional(PrimitiveTypeName.BOOLEAN).named(column.name());
            case INTEGER -> Types.optional(PrimitiveTypeName.INT64).named(column.name());
            case NUMBER -> Types.optional(PrimitiveTypeName.DOUBLE).named(column.name());
            case NUMBERS ->
                Types.optionalList().optionalElement(PrimitiveTypeName.DOUBLE).named(column.name());
            case TEXT ->
                Types.optional(PrimitiveTypeName.BINARY)
                        .as(LogicalTypeAnnotation.stringType())
                        .named(column.name());
        };
    }

    private void copyColumns(BlockMetaData group, ParquetFileWriter writer) throws IOException {
        try (var in = file.newStream()) {
            for (var chunk : group.getColumns()) {
                var column = schema.getColumnDescription(chunk.getPath().toArray());
                writer.appendColumnChunk(column, in, chunk, null, null, null);
            }
        }
    }

    private static void writeAnswers(Answers answers, MessageType type, long count, ParquetFileWriter writer)
            throws IOException {
        var compressor = new PureCodecs().getCompressor(WRITTEN_CODEC);
        try (var pages = new ColumnChunkPageWriteStore(
                        compressor, type, PROPERTIES.getAllocator(), COLUMN_INDEX_LENGTH);
                var columns = PROPERTIES.newColumnWriteStore(type, pages, pages)) {
            var consumer = new ColumnIOFactory().getColumnIO(type).getRecordWriter(columns);
            var rows = new GroupWriter(consumer, type);
            for (long i = 0; i < count; i++) {
                rows.write(row(answers.columns(), answers.next(), type));
            }
            consumer.flush();
            columns.flush();
            pages.flushToFileWriter(writer);
        }
    }

    private static Group row(List<AnswerColumn> columns, JsonNode answer, MessageType type) {
        var row = new SimpleGroup(type);
        for (int i = 0; i < columns.size(); i++) {
            var value = columns.get(i).value(answer);
            if (value.isPresent()) {
                add(row, i, columns.get(i).kind(), value.get());
            }
        }
        return row;
    }

    private static void add(Group row, int field, AnswerColumn.Kind kind, JsonNode value) {
        switch (kind) {
            case BOOLEAN -> row.add(field, value.booleanValue());
            case INTEGER -> row.add(field, value.longValue());
            case NUMBER -> row.add(field, value.doubleValue());
            case NUMBERS -> {
                var list = row.addGroup(field);
                value.forEach(number -> list.addGroup(0).add(0, number.doubleValue()));
            }
            case TEXT -> row.add(field, AnswerColumn.text(value));
        }
    }

    @Override
    public void close() throws IOException {
        reader.close();
    }

    /// A stream as a new file.
    private record Output(OutputStream out) implements OutputFile {

        @Override
        public PositionOutputStream create(long blockSize) {
            return new Counted(out);
        }

        @Override
        public PositionOutputStream createOrOverwrite(long blockSize) {
            return create(blockSize);
        }

        @Override
        public boolean supportsBlockSize() {
            return false;
        }

        @Override
        public long defaultBlockSize() {
            return 0;
        }
    }

    private static final class Counted extends PositionOutputStream {

        private final OutputStream out;
        private long position;

        Counted(OutputStream out) {
            this.out = out;
        }

        @Override
        public long getPos() {
            return position;
        }

        @Override
        public void write(int value) throws IOException {
            out.write(value);
            position++;
        }

        @Override
        public void write(byte[] bytes, int offset, int length) throws IOException {
            out.write(bytes, offset, length);
            position += length;
        }
    }
}
