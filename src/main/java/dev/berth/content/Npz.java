package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import dev.berth.memory.RequestMemory;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.LocalDateTime;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.SequencedMap;
import java.util.concurrent.CancellationException;
import java.util.stream.IntStream;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipInputStream;
import java.util.zip.ZipOutputStream;

/// NumPy's `.npz`, `application/x-npz`: a ZIP archive of named arrays, as `numpy.savez` and
/// `numpy.savez_compressed` write it. Each is a [Npy] file called by its name and `.npy`.
public final class Npz extends ContentType implements ContentType.OfTensors {

  /// What all arrays of an archive may unpack to unless told otherwise: some times SageMaker's
  /// largest payload. A ZIP archive may unpack to a thousand times its size, so a small request
  /// could fill the memory else, and several may unpack at once.
  private static final int DEFAULT_MAX_BYTES =
      (int) Math.min(256 << 20, Runtime.getRuntime().maxMemory() / 8);

  private static final int PIECE = 8 << 10;

  private static final String EXTENSION = ".npy";

  /// What every ZIP archive ends with (APPNOTE.TXT 4.3.16), before a comment that nearly none has.
  private static final int END_SIGNATURE = 0x06054b50;

  private static final int END_BYTES = 22;
  private static final int END_COUNT_OFFSET = 10;
  private static final int END_COMMENT_LENGTH_OFFSET = 20;

  /// The number of entries that says "see elsewhere".
  private static final int MANY = 0xffff;

  /// The time of files that have none, as NumPy writes it: the earliest that ZIP knows.
  private static final LocalDateTime NO_TIME = LocalDateTime.of(1980, 1, 1, 0, 0);

  /// For [ContentTypes] alone.
  Npz() {
    super(List.of(MediaType.NPZ), List.of("npz"), Framing.NONE);
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
    int count = entryCount(bytes);
    var tensors = new LinkedHashMap<String, Tensor>();
    int left = Math.min(maxBytes, Integer.MAX_VALUE - 9);
    try (var zip = new ZipInputStream(new ByteArrayInputStream(bytes))) {
      for (var entry = zip.getNextEntry(); entry != null; entry = zip.getNextEntry()) {
        var name = name(entry);
        var file = unpack(zip, left + 1);
        if (file.length > left) {
          throw bad(
              entry,
              "found too much, expected at most %d bytes unpacked for all arrays"
                  .formatted(maxBytes));
        }
        left -= file.length;
        if (tensors.putIfAbsent(name, tensor(entry, file)) != null) {
          throw bad(entry, "found a second array of this name, expected one");
        }
      }
    } catch (IOException e) {
      throw new BadInputException(
          "array %d: found a broken ZIP archive (%s), expected an .npz file"
              .formatted(tensors.size() + 1, e.getMessage()),
          e);
    }
    if (count != MANY && count != tensors.size()) {
      throw new BadInputException(
          "found %d arrays, expected %d as the archive's end says"
              .formatted(tensors.size(), count));
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
  public TensorRecords readTensors(InvocationRequest request, TensorInputs inputs)
      throws IOException {
    var arrays = read(request.bytes());
    if (inputs.isAny() && arrays.size() == 1) {
      var array = arrays.firstEntry();
      return TensorRecords.rows(
          List.of(inputs.ofArray(array.getValue(), 0, array.getKey())),
          array.getKey(),
          Instances.Form.LIST);
    }
    inputs.checkNames(List.copyOf(arrays.keySet()), "body");
    var names = inputs.names();
    return TensorRecords.rows(
        IntStream.range(0, names.size())
            .mapToObj(i -> inputs.ofArray(arrays.get(names.get(i)), i, names.get(i)))
            .toList(),
        "body",
        Instances.Form.LIST);
  }

  @Override
  public InvocationResponse writeTensors(TensorPredictions predictions, MediaType accept) {
    predictions.chargeElements(TensorPredictions.NUMBER_AS_BYTES);
    return InvocationResponse.of(write(predictions.named(predictions.stacked(accept))), accept);
  }

  /// The number of entries that the archive's end names. Reading from the front alone would take an
  /// archive that was cut behind an entry for a whole one.
  private static int entryCount(byte[] bytes) {
    var buffer = ByteBuffer.wrap(bytes).order(ByteOrder.LITTLE_ENDIAN);
    for (int at = bytes.length - END_BYTES;
        at >= 0 && at >= bytes.length - END_BYTES - MANY;
        at--) {
      int comment = bytes.length - END_BYTES - at;
      if (buffer.getInt(at) == END_SIGNATURE
          && Short.toUnsignedInt(buffer.getShort(at + END_COMMENT_LENGTH_OFFSET)) == comment) {
        return Short.toUnsignedInt(buffer.getShort(at + END_COUNT_OFFSET));
      }
    }
    throw new BadInputException(
        "found %d bytes without the end of a ZIP archive, expected an .npz file"
            .formatted(bytes.length));
  }

  /// What is unpacked is counted piece by piece, because only the last one says how much it is.
  private static byte[] unpack(ZipInputStream zip, int most) throws IOException {
    var bytes = new ByteArrayOutputStream();
    var piece = new byte[PIECE];
    int room = 0;
    for (int count = 0;
        count >= 0 && bytes.size() < most;
        count = zip.read(piece, 0, Math.min(PIECE, most - bytes.size()))) {
      bytes.write(piece, 0, count);
      if (Thread.currentThread().isInterrupted()) {
        throw new CancellationException(
            "interrupted after %d unpacked bytes".formatted(bytes.size()));
      }
      if (bytes.size() + PIECE > room) {
        // The stream doubles what it has, and is copied at the end.
        RequestMemory.charge(2L * Math.max(PIECE, room));
        room = Math.max(PIECE, 2 * room);
      }
    }
    return bytes.toByteArray();
  }

  private static String name(ZipEntry entry) {
    var name = entry.getName();
    if (!name.endsWith(EXTENSION)) {
      throw bad(entry, "found another file, expected arrays alone, each named …" + EXTENSION);
    }
    return name.substring(0, name.length() - EXTENSION.length());
  }

  private static Tensor tensor(ZipEntry entry, byte[] file) {
    try {
      return Npy.read(file);
    } catch (BadInputException e) {
      throw new BadInputException(
          "array %s: %s".formatted(Excerpt.quoted(entry.getName()), e.getMessage()), e);
    }
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

  private static BadInputException bad(ZipEntry entry, String message) {
    return new BadInputException(
        "array %s: %s".formatted(Excerpt.quoted(entry.getName()), message));
  }
}
