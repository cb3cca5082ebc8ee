package dev.berth.engine.torch;

import dev.berth.memory.Footprint;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/// What a TorchScript takes in memory. BERT in libtorch 2.7.1 on x86-64, after its first forwards,
/// in MB:
///
/// | file | weights and code | kept | besides while it is loaded | estimate of both |
/// |---|--:|--:|--:|--:|
/// | fp32, 6 layers of 384 | 89 | 96 | 5 | 97 + 4 |
/// | fp32, 12 layers of 768 | 421 | 430 | 2 | 450 + 21 |
/// | int8, 6 layers of 384 | 24 | 35 | 17 | 35 + 25 |
/// | int8, 12 layers of 768 | 109 | 132 | 96 | 153 + 109 |
///
/// Weights of int8 layers are packed for the processor, and those of the file are kept until all of
/// them are. What the engine compiles of a model's code has the same size for any weights.
final class TorchFootprint {

  /// The class of packed weights, as a pickle of the archive names it.
  private static final String PACKED = "torch.classes.quantized";

  /// What is compiled of a byte of code.
  private static final int COMPILED = 64;

  private TorchFootprint() {}

  static Footprint of(Path file) {
    try (var zip = new ZipFile(file.toFile())) {
      long size = Files.size(file);
      long code =
          zip.stream()
              .filter(entry -> entry.getName().contains("/code/"))
              .mapToLong(ZipEntry::getSize)
              .sum();
      long compiled = COMPILED * code;
      return isPacked(zip)
          ? new Footprint(size + 2 * size / 5 + compiled, size)
          : new Footprint(size + size / 20 + compiled, size / 20);
    } catch (IOException _) {
      // Loading it says what is wrong.
      return Footprint.NONE;
    }
  }

  /// Frozen files have their weights among the constants.
  private static boolean isPacked(ZipFile zip) throws IOException {
    var pickles =
        zip.stream()
            .filter(
                entry ->
                    entry.getName().endsWith("/data.pkl")
                        || entry.getName().endsWith("/constants.pkl"))
            .toList();
    for (var pickle : pickles) {
      try (var content = zip.getInputStream(pickle)) {
        if (new String(content.readAllBytes(), StandardCharsets.ISO_8859_1).contains(PACKED)) {
          return true;
        }
      }
    }
    return false;
  }
}
