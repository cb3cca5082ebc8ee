package dev.berth.engine.torch;

import dev.berth.memory.Footprint;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/// What a file that PyTorch wrote is, as far as the ZIP tells: how much memory its model takes, and
/// why it is no TorchScript.
final class TorchFile {

    private static final String EXPORTED =
            "found what torch.export.save writes; save torch.jit.trace(model, example) or"
                    + " torch.jit.script(model) instead";
    private static final String PICKLED =
            "found what torch.save writes, such as a state_dict; load it into the model in Python and"
                    + " save torch.jit.trace(model, example) or torch.jit.script(model)";

    /// The class of packed weights, as a pickle of the archive names it.
    private static final String PACKED = "torch.classes.quantized";

    /// What is inflated of a pickle.
    private static final int LONGEST_PICKLE = 16 << 20;

    /// What is compiled of a byte of code.
    private static final int COMPILED = 64;

    private TorchFile() {}

    /// What a TorchScript takes in memory. BERT in libtorch 2.7.1 on x86-64, after its first
    /// forwards, in MB:
    ///
    /// | file | weights and code | kept | besides while it is loaded | estimate of both |
    /// |---|--:|--:|--:|--:|
    /// | fp32, 6 layers of 384 | 89 | 96 | 5 | 97 + 4 |
    /// | fp32, 12 layers of 768 | 421 | 430 | 2 | 450 + 21 |
    /// | int8, 6 layers of 384 | 24 | 35 | 17 | 35 + 25 |
    /// | int8, 12 layers of 768 | 109 | 132 | 96 | 153 + 109 |
    ///
    /// Weights of int8 layers are packed for the processor, and those of the file are kept until all
    /// of them are. What the engine compiles of a model's code has the same size for any weights.
    static Footprint footprint(Path file) {
        try (var zip = new ZipFile(file.toFile())) {
            long size = Files.size(file);
            long code = zip.stream()
                    .filter(entry -> entry.getName().contains("/code/"))
                    .mapToLong(ZipEntry::getSize)
                    .sum();
            return isPacked(zip)
                    ? new Footprint(size + 2 * size / 5 + COMPILED * code, size)
                    : new Footprint(size + size / 20 + COMPILED * code, size / 20);
        } catch (IOException _) {
            // Loading it says what is wrong.
            return Footprint.NONE;
        }
    }

    /// Frozen files have their weights among the constants.
    private static boolean isPacked(ZipFile zip) throws IOException {
        for (var entry : zip.stream().toList()) {
            var name = entry.getName();
            if ((name.endsWith("/data.pkl") || name.endsWith("/constants.pkl"))
                    && TorchNames.read(zip, name, LONGEST_PICKLE).contains(PACKED)) {
                return true;
            }
        }
        return false;
    }

    /// What a file is in place of a TorchScript, and what to do about it. Nothing where that is not
    /// known.
    static Optional<String> otherFormat(Path file) {
        try (var zip = new ZipFile(file.toFile())) {
            var names = zip.stream().map(ZipEntry::getName).toList();
            if (names.stream().anyMatch(name -> name.endsWith("/archive_format"))) {
                return Optional.of(EXPORTED);
            }
            // A pickle, without the code that a TorchScript has.
            boolean isPickled = names.stream().anyMatch(name -> name.endsWith("/data.pkl"))
                    && names.stream().noneMatch(name -> name.contains("/code/"));
            return Optional.of(PICKLED).filter(_ -> isPickled);
        } catch (IOException _) {
            return Optional.empty();
        }
    }
}
