package dev.berth.engine.torch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.zip.ZipEntry;
import java.util.zip.ZipFile;

/// A file that PyTorch writes and that is no TorchScript.
final class OtherFormat {

  private static final String EXPORTED =
      "found what torch.export.save writes; save torch.jit.trace(model, example) or torch.jit.script(model) instead";
  private static final String PICKLED =
      "found what torch.save writes, such as a state_dict; load it into the model in Python and save "
          + "torch.jit.trace(model, example) or torch.jit.script(model)";

  /// The opcode PROTO, with which every pickle since version 2 begins.
  private static final int PROTO = 0x80;

  private OtherFormat() {}

  /// What a file is, and what to do about it; nothing where it is none of these.
  static Optional<String> of(Path file) {
    try (var zip = new ZipFile(file.toFile())) {
      var names = zip.stream().map(ZipEntry::getName).toList();
      if (names.stream().anyMatch(name -> name.endsWith("/archive_format"))) {
        return Optional.of(EXPORTED);
      }
      // A pickle, without the code that a TorchScript has.
      return names.stream().anyMatch(name -> name.endsWith("/data.pkl"))
              && names.stream().noneMatch(name -> name.contains("/code/"))
          ? Optional.of(PICKLED)
          : Optional.empty();
    } catch (IOException _) {
      return beginsLikeAPickle(file) ? Optional.of(PICKLED) : Optional.empty();
    }
  }

  private static boolean beginsLikeAPickle(Path file) {
    try (var content = Files.newInputStream(file)) {
      return content.read() == PROTO;
    } catch (IOException _) {
      return false;
    }
  }
}
