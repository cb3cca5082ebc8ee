package dev.berth.engine.torch;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.zip.ZipFile;

/// A file of `torch.save`: a pickle, or a ZIP with one and without the code that a TorchScript has.
final class PickledFile {

  /// The opcode PROTO, with which every pickle since version 2 begins.
  private static final int PROTO = 0x80;

  private PickledFile() {}

  static boolean is(Path file) {
    try (var zip = new ZipFile(file.toFile())) {
      return zip.stream().anyMatch(entry -> entry.getName().endsWith("/data.pkl"))
          && zip.stream().noneMatch(entry -> entry.getName().contains("/code/"));
    } catch (IOException _) {
      return beginsLikeOne(file);
    }
  }

  private static boolean beginsLikeOne(Path file) {
    try (var content = Files.newInputStream(file)) {
      return content.read() == PROTO;
    } catch (IOException _) {
      return false;
    }
  }
}
