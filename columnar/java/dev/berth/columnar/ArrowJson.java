package dev.berth.columnar;

import com.fasterxml.jackson.core.JsonGenerator;
import java.io.IOException;
import java.time.LocalDate;
import java.time.LocalTime;
import java.time.format.DateTimeFormatter;
import java.time.temporal.ChronoUnit;
import org.apache.arrow.vector.BaseIntVector;
import org.apache.arrow.vector.BitVector;
import org.apache.arrow.vector.DateDayVector;
import org.apache.arrow.vector.DateMilliVector;
import org.apache.arrow.vector.Decimal256Vector;
import org.apache.arrow.vector.DecimalVector;
import org.apache.arrow.vector.FieldVector;
import org.apache.arrow.vector.FixedSizeBinaryVector;
import org.apache.arrow.vector.Float2Vector;
import org.apache.arrow.vector.Float4Vector;
import org.apache.arrow.vector.Float8Vector;
import org.apache.arrow.vector.LargeVarBinaryVector;
import org.apache.arrow.vector.LargeVarCharVector;
import org.apache.arrow.vector.NullVector;
import org.apache.arrow.vector.TimeMicroVector;
import org.apache.arrow.vector.TimeMilliVector;
import org.apache.arrow.vector.TimeNanoVector;
import org.apache.arrow.vector.TimeSecVector;
import org.apache.arrow.vector.TimeStampVector;
import org.apache.arrow.vector.UInt8Vector;
import org.apache.arrow.vector.VarBinaryVector;
import org.apache.arrow.vector.VarCharVector;
import org.apache.arrow.vector.ViewVarBinaryVector;
import org.apache.arrow.vector.ViewVarCharVector;
import org.apache.arrow.vector.complex.BaseListVector;
import org.apache.arrow.vector.complex.LargeListVector;
import org.apache.arrow.vector.complex.MapVector;
import org.apache.arrow.vector.complex.StructVector;
import org.apache.arrow.vector.types.TimeUnit;
import org.apache.arrow.vector.types.pojo.ArrowType;

/// Writes values of Arrow as JSON, in the same forms as [ParquetJson].
final class ArrowJson {

    private ArrowJson() {}

    /// @throws IOException where the column's type has no JSON here
    static void write(FieldVector column, int row, JsonGenerator out) throws IOException {
        if (column instanceof NullVector || column.isNull(row)) {
            out.writeNull();
            return;
        }
        if (column.getField().getDictionary() != null) {
            throw new IOException("found a dictionary within a list or a struct, expected plain values");
        }
        switch (column) {
            case BitVector bits -> out.writeBoolean(bits.get(row) == 1);
            case UInt8Vector integers -> out.writeNumber(integers.getObjectNoOverflow(row));
            case BaseIntVector integers -> out.writeNumber(integers.getValueAsLong(row));
            case Float2Vector numbers -> out.writeNumber(numbers.getValueAsFloat(row));
            case Float4Vector numbers -> out.writeNumber(numbers.get(row));
            case Float8Vector numbers -> out.writeNumber(numbers.get(row));
            case DecimalVector decimals -> out.writeNumber(decimals.getObject(row));
            case Decimal256Vector decimals -> out.writeNumber(decimals.getObject(row));
            case VarCharVector texts -> out.writeString(texts.getObject(row).toString());
            case LargeVarCharVector texts ->
                out.writeString(texts.getObject(row).toString());
            case ViewVarCharVector texts -> out.writeString(texts.getObject(row).toString());
            case VarBinaryVector bytes -> out.writeBinary(bytes.getObject(row));
            case LargeVarBinaryVector bytes -> out.writeBinary(bytes.getObject(row));
            case ViewVarBinaryVector bytes -> out.writeBinary(bytes.getObject(row));
            case FixedSizeBinaryVector bytes -> out.writeBinary(bytes.get(row));
            case DateDayVector days ->
                out.writeString(LocalDate.ofEpochDay(days.get(row)).toString());
            case DateMilliVector days ->
                out.writeString(days.getObject(row).toLocalDate().toString());
            case TimeSecVector times -> writeTime(times.get(row), ChronoUnit.SECONDS, out);
            case TimeMilliVector times -> writeTime(times.get(row), ChronoUnit.MILLIS, out);
            case TimeMicroVector times -> writeTime(times.get(row), ChronoUnit.MICROS, out);
            case TimeNanoVector times -> writeTime(times.get(row), ChronoUnit.NANOS, out);
            case TimeStampVector times ->
                writeTimestamp(
                        times.get(row), (ArrowType.Timestamp) times.getField().getType(), out);
            case MapVector map -> writeMap(map, row, out);
            case LargeListVector list ->
                writeList(list.getDataVector(), list.getElementStartIndex(row), list.getElementEndIndex(row), out);
            case BaseListVector list ->
                writeList(
                        list.getChildrenFromFields().getFirst(),
                        list.getElementStartIndex(row),
                        list.getElementEndIndex(row),
                        out);
            case StructVector struct -> {
                out.writeStartObject();
                for (var child : struct.getChildrenFromFields()) {
                    out.writeFieldName(child.getName());
                    write(child, row, out);
                }
                out.writeEndObject();
            }
            default ->
                throw new IOException("found the type %s, which has no JSON"
                        .formatted(column.getField().getType()));
        }
    }

    private static void writeTime(long value, ChronoUnit unit, JsonGenerator out) throws IOException {
        out.writeString(DateTimeFormatter.ISO_LOCAL_TIME.format(LocalTime.MIDNIGHT.plus(value, unit)));
    }

    /// With a time zone it counts from 1970 in UTC, else on a clock of an unknown zone.
    private static void writeTimestamp(long value, ArrowType.Timestamp type, JsonGenerator out) throws IOException {
        var text = DateTimeFormatter.ISO_LOCAL_DATE_TIME.format(
                LocalDate.EPOCH.atStartOfDay().plus(value, unit(type.getUnit())));
        out.writeString(type.getTimezone() == null ? text : text + "Z");
    }

    private static ChronoUnit unit(TimeUnit unit) {
        return switch (unit) {
            case SECOND -> ChronoUnit.SECONDS;
            case MILLISECOND -> ChronoUnit.MILLIS;
            case MICROSECOND -> ChronoUnit.MICROS;
            case NANOSECOND -> ChronoUnit.NANOS;
        };
    }

    private static void writeList(FieldVector elements, long start, long end, JsonGenerator out) throws IOException {
        out.writeStartArray();
        for (long i = start; i < end; i++) {
            write(elements, Math.toIntExact(i), out);
        }
        out.writeEndArray();
    }

    /// An object where keys are texts, else a list of keys and values.
    private static void writeMap(MapVector map, int row, JsonGenerator out) throws IOException {
        var entries = (StructVector) map.getDataVector();
        var pair = entries.getChildrenFromFields();
        if (!(pair.getFirst() instanceof VarCharVector keys)) {
            writeList(entries, map.getElementStartIndex(row), map.getElementEndIndex(row), out);
            return;
        }
        out.writeStartObject();
        for (int i = map.getElementStartIndex(row); i < map.getElementEndIndex(row); i++) {
            out.writeFieldName(keys.getObject(i).toString());
            write(pair.getLast(), i, out);
        }
        out.writeEndObject();
    }
}
