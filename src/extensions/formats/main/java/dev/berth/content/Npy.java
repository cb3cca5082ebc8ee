package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.NotAcceptableException;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;

/// NumPy's `.npy`, `application/x-npy`: one array with its type and shape, as `numpy.save` writes
/// it (NEP 1).
///
/// ```java
/// var tensor = Npy.read(request.bytes());
/// return InvocationResponse.of(Npy.write(tensor), MediaType.of("application", "x-npy"));
/// ```
public final class Npy extends ContentType implements ContentType.OfTensors {

    private static final byte[] MAGIC = {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y'};

    /// Where the version stands, its major and its minor number as one byte each, and behind it the
    /// header's length.
    private static final int VERSION_OFFSET = 6;

    private static final int LENGTH_OFFSET = 8;
    private static final int HEADER_OFFSET = LENGTH_OFFSET + Short.BYTES;

    /// NumPy lets the data begin at a multiple of this, and leaves room for a first dimension of so
    /// many digits.
    private static final int ALIGNMENT = 64;

    private static final int MAX_DIGITS = 21;

    /// For the service loader.
    public Npy() {
        super(List.of(MediaType.NPY), List.of("npy"));
    }

    /// Reads version 1.0, in which NumPy writes all arrays of numbers, in either byte order, row by row
    /// or column by column.
    /// Elements of uint16 and uint32 become int32 and int64; every other type stays as it is.
    ///
    /// @param bytes the whole file; the tensor may stand on them, so they must not be changed any
    ///   more
    /// @throws BadInputException where it is no such file, is shorter or longer than its header says,
    ///   or has elements that are not numbers. Pickled objects are among these: reading them would
    ///   run the sender's code.
    public static Tensor read(byte[] bytes) {
        var header = header(bytes);
        int dataOffset = header.dataOffset();
        var source =
                ByteBuffer.wrap(bytes, dataOffset, bytes.length - dataOffset).slice();
        long expected = (long) header.size() * header.type().bytes();
        if (source.limit() != expected) {
            throw bad(dataOffset, source.limit() + " bytes of data", expected + " as the header says");
        }
        if (header.type().element() == ElementType.BOOL) {
            checkBooleans(source, dataOffset);
        }
        return Tensor.of(header.type().element(), header.rowByRow(source), header.shape());
    }

    /// Writes version 1.0, byte for byte as `numpy.save` does.
    ///
    /// @throws IllegalArgumentException for texts, and for a tensor of more than 64 dimensions, which
    ///   NumPy could not read
    public static byte[] write(Tensor tensor) {
        if (tensor.rank() > NpyHeader.MAX_RANK) {
            throw new IllegalArgumentException(
                    "found %d dimensions, expected at most %d".formatted(tensor.rank(), NpyHeader.MAX_RANK));
        }
        if (tensor.type() == ElementType.STRING) {
            throw new IllegalArgumentException("found texts, expected numbers");
        }
        var header = headerText(tensor);
        // The line break counts, and a header that fits as it is gets a whole block more, as NumPy's
        // does.
        int unpadded = HEADER_OFFSET + header.length() + 1;
        int dataOffset = unpadded + ALIGNMENT - unpadded % ALIGNMENT;
        int size = Math.addExact(dataOffset, tensor.data().remaining());
        RequestMemory.charge(size);
        var file = ByteBuffer.allocate(size).order(ByteOrder.LITTLE_ENDIAN);
        file.put(MAGIC).put((byte) 1).put((byte) 0).putShort((short) (dataOffset - HEADER_OFFSET));
        file.put((header + " ".repeat(dataOffset - unpadded) + "\n").getBytes(StandardCharsets.US_ASCII));
        return file.put(tensor.data()).array();
    }

    /// An array of one dimension or none is one record; others are rows of records.
    @Override
    public TensorRecords readTensors(InvocationRequest request, TensorInputs inputs) throws IOException {
        inputs.checkOne(request);
        var array = inputs.ofArray(read(request.bytes()), 0, "body");
        return array.rank() < 2
                ? new TensorRecords(1, _ -> List.of(array), Instances.Form.ONE)
                : TensorRecords.rows(List.of(array), inputs, "body", Instances.Form.LIST);
    }

    @Override
    public InvocationResponse writeTensors(TensorPredictions predictions, MediaType accept) {
        predictions.chargeElements(TensorPredictions.COPIES);
        var outputs = predictions.stacked(accept);
        if (outputs.size() != 1) {
            throw new NotAcceptableException(
                    "Accept: found %s, expected a type for the %d outputs of this model, such as application/x-npz or application/json"
                            .formatted(accept, outputs.size()));
        }
        var rows = outputs.getFirst();
        return InvocationResponse.of(
                write(
                        predictions.form() == Instances.Form.ONE && !predictions.isWhole()
                                ? rows.unstack().getFirst()
                                : rows),
                accept);
    }

    private static NpyHeader header(byte[] bytes) {
        int matching = Arrays.mismatch(bytes, MAGIC);
        if (matching >= 0 && matching < MAGIC.length) {
            throw bad(
                    matching,
                    matching == bytes.length ? "the end" : "the byte 0x%02x".formatted(bytes[matching]),
                    "\\x93NUMPY, with which an .npy file begins");
        }
        need(HEADER_OFFSET, bytes);
        var buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
        int version = buffer.getShort(VERSION_OFFSET);
        if (version != 1) {
            throw bad(VERSION_OFFSET, "the version %d.%d".formatted(version & 0xff, version >> 8 & 0xff), "1.0");
        }
        int length = Short.toUnsignedInt(buffer.getShort(LENGTH_OFFSET));
        need(HEADER_OFFSET + length, bytes);
        return NpyHeader.read(
                new String(bytes, HEADER_OFFSET, length, StandardCharsets.ISO_8859_1), HEADER_OFFSET + length);
    }

    private static void need(int count, byte[] bytes) {
        if (bytes.length < count) {
            throw bad(bytes.length, "the end", "a header up to offset " + count);
        }
    }

    private static BadInputException bad(int offset, String found, String expected) {
        return new BadInputException("offset %d: found %s, expected %s".formatted(offset, found, expected));
    }

    private static void checkBooleans(ByteBuffer source, int dataOffset) {
        for (int i = 0; i < source.limit(); i++) {
            if ((source.get(i) & ~1) != 0) {
                throw bad(dataOffset + i, "the byte 0x%02x".formatted(source.get(i)), "0 or 1 for a bool");
            }
        }
    }

    private static String headerText(Tensor tensor) {
        var shape = Arrays.stream(tensor.shape()).mapToObj(Integer::toString).toList();
        var tuple = shape.size() == 1 ? shape.getFirst() + "," : String.join(", ", shape);
        var room =
                shape.isEmpty() ? "" : " ".repeat(MAX_DIGITS - shape.getFirst().length());
        return "{'descr': '%s', 'fortran_order': False, 'shape': (%s), }%s"
                .formatted(descr(tensor.type()), tuple, room);
    }

    private static String descr(ElementType type) {
        var kind = type == ElementType.BOOL ? "b" : type == ElementType.UINT8 ? "u" : type.isFloating() ? "f" : "i";
        return (type.bytes() == 1 ? "|" : "<") + kind + type.bytes();
    }
}
