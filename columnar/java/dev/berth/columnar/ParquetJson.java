package dev.berth.columnar;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.math.BigDecimal;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.LocalTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import java.time.temporal.JulianFields;
import java.util.UUID;
import org.apache.parquet.example.data.Group;
import org.apache.parquet.io.api.Binary;
import org.apache.parquet.schema.GroupType;
import org.apache.parquet.schema.LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DateLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.DecimalLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.EnumLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.Float16LogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.IntLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.JsonLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.ListLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapKeyValueTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.MapLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.StringLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimeUnit;
import org.apache.parquet.schema.LogicalTypeAnnotation.TimestampLogicalTypeAnnotation;
import org.apache.parquet.schema.LogicalTypeAnnotation.UUIDLogicalTypeAnnotation;
import org.apache.parquet.schema.PrimitiveType;
import org.apache.parquet.schema.Type;

/// Writes rows of Parquet as JSON.
final class ParquetJson {

    private static final long NANOS_PER_DAY = 86_400_000_000_000L;

    private ParquetJson() {}

    /// Writes an object with a member for each field.
    static void write(Group row, GroupType type, JsonGenerator out) throws IOException {
        out.writeStartObject();
        for (int field = 0; field < type.getFieldCount(); field++) {
            out.writeFieldName(type.getFieldName(field));
            writeField(row, type.getType(field), field, out);
        }
        out.writeEndObject();
    }

    private static void writeField(Group row, Type type, int field, JsonGenerator out) throws IOException {
        int count = row.getFieldRepetitionCount(field);
        if (type.isRepetition(Type.Repetition.REPEATED)) {
            out.writeStartArray();
            for (int i = 0; i < count; i++) {
                writeValue(row, type, field, i, out);
            }
            out.writeEndArray();
        } else if (count == 0) {
            out.writeNull();
        } else {
            writeValue(row, type, field, 0, out);
        }
    }

    private static void writeValue(Group row, Type type, int field, int index, JsonGenerator out) throws IOException {
        if (type.isPrimitive()) {
            writePrimitive(row, type.asPrimitiveType(), field, index, out);
            return;
        }
        var group = row.getGroup(field, index);
        var groupType = type.asGroupType();
        switch (type.getLogicalTypeAnnotation()) {
            case ListLogicalTypeAnnotation _ -> writeList(group, groupType, out);
            case MapLogicalTypeAnnotation _ -> writeMap(group, groupType, out);
            case MapKeyValueTypeAnnotation _ -> writeMap(group, groupType, out);
            case null, default -> write(group, groupType, out);
        }
    }

    /// The forms that the format's own rules know:
    /// https://parquet.apache.org/docs/file-format/types/logicaltypes/#lists
    private static void writeList(Group list, GroupType type, JsonGenerator out) throws IOException {
        var repeated = type.getType(0);
        boolean isElement = repeated.isPrimitive()
                || repeated.asGroupType().getFieldCount() != 1
                || repeated.getName().equals("array")
                || repeated.getName().equals(type.getName() + "_tuple");
        out.writeStartArray();
        for (int i = 0; i < list.getFieldRepetitionCount(0); i++) {
            if (isElement) {
                writeValue(list, repeated, 0, i, out);
            } else {
                writeField(list.getGroup(0, i), repeated.asGroupType().getType(0), 0, out);
            }
        }
        out.writeEndArray();
    }

    /// An object where keys are texts, else a list of keys and values.
    private static void writeMap(Group map, GroupType type, JsonGenerator out) throws IOException {
        var entry = type.getType(0).asGroupType();
        var key = entry.getType(0);
        if (!(key.getLogicalTypeAnnotation() instanceof StringLogicalTypeAnnotation) || entry.getFieldCount() != 2) {
            writeField(map, entry, 0, out);
            return;
        }
        out.writeStartObject();
        for (int i = 0; i < map.getFieldRepetitionCount(0); i++) {
            var pair = map.getGroup(0, i);
            out.writeFieldName(pair.getString(0, 0));
            writeField(pair, entry.getType(1), 1, out);
        }
        out.writeEndObject();
    }

    private static void writePrimitive(Group row, PrimitiveType type, int field, int index, JsonGenerator out)
            throws IOException {
        var annotation = type.getLogicalTypeAnnotation();
        switch (type.getPrimitiveTypeName()) {
            case BOOLEAN -> out.writeBoolean(row.getBoolean(field, index));
            case FLOAT -> out.writeNumber(row.getFloat(field, index));
            case DOUBLE -> out.writeNumber(row.getDouble(field, index));
            case INT32 -> writeInteger(row.getInteger(field, index), 32, annotation, out);
            case INT64 -> writeInteger(row.getLong(field, index), 64, annotation, out);
            case INT96 ->
                out.writeString(DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(int96(row.getInt96(field, index))));
            case BINARY, FIXED_LEN_BYTE_ARRAY -> writeBytes(row.getBinary(field, index), annotation, out);
        }
    }

    private static void writeInteger(long value, int bits, LogicalTypeAnnotation annotation, JsonGenerator out)
            throws IOException {
        switch (annotation) {
            case DecimalLogicalTypeAnnotation decimal -> out.writeNumber(BigDecimal.valueOf(value, decimal.getScale()));
            case DateLogicalTypeAnnotation _ ->
                out.writeString(LocalDate.ofEpochDay(value).toString());
            case TimeLogicalTypeAnnotation time ->
                out.writeString(
                        DateTimeFormatter.ISO_LOCAL_TIME.format(LocalTime.MIDNIGHT.plus(value, unit(time.getUnit()))));
            case TimestampLogicalTypeAnnotation timestamp -> {
                var text = DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(
                        LocalDate.EPOCH.atStartOfDay().plus(value, unit(timestamp.getUnit())));
                out.writeString(timestamp.isAdjustedToUTC() ? text + "Z" : text);
            }
            case IntLogicalTypeAnnotation integer
            when !integer.isSigned() ->
                out.writeNumber(new BigInteger(
                        bits == 32 ? Integer.toUnsignedString((int) value) : Long.toUnsignedString(value)));
            case null, default -> out.writeNumber(value);
        }
    }

    private static ChronoUnit unit(TimeUnit unit) {
        return switch (unit) {
            case MILLIS -> ChronoUnit.MILLIS;
            case MICROS -> ChronoUnit.MICROS;
            case NANOS -> ChronoUnit.NANOS;
        };
    }

    private static void writeBytes(Binary value, LogicalTypeAnnotation annotation, JsonGenerator out)
            throws IOException {
        switch (annotation) {
            case StringLogicalTypeAnnotation _ -> out.writeString(value.toStringUsingUTF8());
            case EnumLogicalTypeAnnotation _ -> out.writeString(value.toStringUsingUTF8());
            case JsonLogicalTypeAnnotation _ -> out.writeString(value.toStringUsingUTF8());
            case DecimalLogicalTypeAnnotation decimal ->
                out.writeNumber(new BigDecimal(new BigInteger(value.getBytes()), decimal.getScale()));
            case UUIDLogicalTypeAnnotation _ -> {
                var bytes = value.toByteBuffer();
                out.writeString(new UUID(bytes.getLong(bytes.position()), bytes.getLong(bytes.position() + Long.BYTES))
                        .toString());
            }
            case Float16LogicalTypeAnnotation _ ->
                out.writeNumber(Float.float16ToFloat(
                        value.toByteBuffer().order(ByteOrder.LITTLE_ENDIAN).getShort()));
            case null, default -> out.writeBinary(value.getBytes());
        }
    }

    /// A deprecated timestamp: the nanoseconds of a day, and its Julian number.
    private static LocalDateTime int96(Binary value) {
        var bytes = ByteBuffer.wrap(value.getBytes()).order(ByteOrder.LITTLE_ENDIAN);
        long nanos = bytes.getLong();
        var day = LocalDate.EPOCH.with(JulianFields.JULIAN_DAY, Integer.toUnsignedLong(bytes.getInt()));
        return day.plusDays(Math.floorDiv(nanos, NANOS_PER_DAY))
                .atStartOfDay()
                .plusNanos(Math.floorMod(nanos, NANOS_PER_DAY))
                .atOffset(ZoneOffset.UTC)
                .toLocalDateTime();
    }
}
