package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.time.LocalDateTime;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.apache.commons.compress.archivers.zip.ZipArchiveEntry;

/// NumPy's `.npz`, `application/x-npz`: a ZIP archive of named arrays, as `numpy.savez` and
/// `numpy.savez_compressed` write it. Each is a [Npy] file called by its name and `.npy`.
public final class Npz extends ContentType implements ContentType.OfTensors {

    /// What all arrays of an archive may unpack to unless told otherwise: some times SageMaker's
    /// largest payload. A ZIP archive may unpack to a thousand times its size, so a small request
    /// could fill the memory else, and several may unpack at once.
    private static final int DEFAULT_MAX_BYTES =
            (int) Math.min(256 << 20, Runtime.getRuntime().maxMemory() / 8);

    private static final String EXTENSION = ".npy";

    /// The time of files that have none, as NumPy writes it: the earliest that ZIP knows.
    private static final LocalDateTime NO_TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

    /// For the service loader.
    public Npz() {
        super(List.of(MediaType.NPZ), List.of("npz"));
    }

    /// The arrays in the archive's order, by their names without `.npy`; together at most 256 MiB, or
    /// an eighth of the heap where that is less.
    ///
    /// @throws BadInputException where it is no such archive, or an array is one that [Npy#read]
    ///   refuses
    public static SequencedMap<String, Tensor> read(byte[] bytes) {
        return read(bytes, DEFAULT_MAX_BYTES);
    }

    /// @param maxBytes what all arrays together may unpack to
    /// @throws BadInputException where it is no such archive, unpacks to more, or an array is one
    ///   that [Npy#read] refuses
    public static SequencedMap<String, Tensor> read(byte[] bytes, int maxBytes) {
        var tensors = new LinkedHashMap<String, Tensor>();
        long left = Math.min(maxBytes, Integer.MAX_VALUE - 9);
        try (var zip = new ZipContent(bytes)) {
            for (var file : zip.files()) {
                var name = name(file.getName());
                left -= file.getSize();
                if (file.getSize() < 0 || left < 0) {
                    throw bad(
                            file.getName(),
                            "found too much, expected at most %d bytes unpacked for all arrays".formatted(maxBytes));
                }
                if (tensors.putIfAbsent(name, tensor(zip, file)) != null) {
                    throw bad(file.getName(), "found a second array of this name, expected one");
                }
            }
        } catch (IOException e) {
            throw new BadInputException(broken(e), e);
        }
        return Collections.unmodifiableSequencedMap(tensors);
    }

    /// An archive of these arrays in their order, not compressed, as `numpy.savez` writes it. The
    /// same arrays give the same bytes.
    public static byte[] write(SequencedMap<String, Tensor> tensors) {
        var bytes = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(bytes)) {
            for (var tensor : tensors.sequencedEntrySet()) {
                var file = Npy.write(tensor.getValue());
                zip.putNextEntry(stored(tensor.getKey() + EXTENSION, file));
                zip.write(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    /// An array for each input, whose rows are the records.
    @Override
    public TensorRecords readTensors(InvocationRequest request, TensorInputs inputs) throws IOException {
        var arrays = read(request.bytes());
        if (inputs.isAny() && arrays.size() == 1) {
            var array = arrays.firstEntry();
            return TensorRecords.rows(
                    List.of(inputs.ofArray(array.getValue(), 0, array.getKey())),
                    inputs,
                    array.getKey(),
                    Instances.Form.LIST);
        }
        inputs.checkNames(List.copyOf(arrays.keySet()), "body");
        var names = inputs.names();
        return TensorRecords.rows(
                IntStream.range(0, names.size())
                        .mapToObj(i -> inputs.ofArray(arrays.get(names.get(i)), i, names.get(i)))
                        .toList(),
                inputs,
                "body",
                Instances.Form.LIST);
    }

    @Override
    public InvocationResponse writeTensors(TensorPredictions predictions, MediaType accept) {
        predictions.chargeElements(TensorPredictions.COPIES);
        return InvocationResponse.of(write(predictions.named(predictions.stacked(accept))), accept);
    }

    private static String name(String file) {
        if (!file.endsWith(EXTENSION)) {
            throw bad(file, "found another file, expected arrays alone, each named …" + EXTENSION);
        }
        return file.substring(0, file.length() - EXTENSION.length());
    }

    private static Tensor tensor(ZipContent zip, ZipArchiveEntry file) {
        try {
            return Npy.read(zip.read(file));
        } catch (BadInputException | IOException e) {
            throw new BadInputException(
                    "array %s: %s"
                            .formatted(
                                    Excerpt.quoted(file.getName()),
                                    e instanceof IOException damage ? broken(damage) : e.getMessage()),
                    e);
        }
    }

    private static String broken(IOException damage) {
        return "found a broken ZIP archive (%s), expected an .npz file".formatted(damage.getMessage());
    }

    private static ZipEntry stored(String name, byte[] file) {
        var checksum = new CRC32();
        checksum.update(file);
        var entry = new ZipEntry(name);
        entry.setMethod(ZipEntry.STORED);
        entry.setSize(file.length);
        entry.setCrc(checksum.getValue());
        entry.setTimeLocal(NO_TIME);
        return entry;
    }

    private static BadInputException bad(String file, String message) {
        return new BadInputException("array %s: %s".formatted(Excerpt.quoted(file), message));
    }
}
