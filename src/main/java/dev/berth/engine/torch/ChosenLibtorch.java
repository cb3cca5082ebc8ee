package dev.berth.engine.torch;

import ai.djl.util.Utils;
import dev.berth.engine.EngineException;
import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// The libtorch that `PYTORCH_LIBRARY_PATH` names, in place of the one in the jars.
///
/// DJL goes on with its own where there is none, and with another version than its JNI library was
/// made for the process dies in the first forward. So it is looked at first.
final class ChosenLibtorch {

  private static final String VARIABLE = "PYTORCH_LIBRARY_PATH";

  /// What DJL's JNI library in the jars was made for.
  private static final String NEEDED = "2.7.";

  /// In pip's `torch/version.py`, and all there is in the `build-version` of PyTorch's own
  /// archives.
  private static final Pattern VERSION =
      Pattern.compile("(?:^|__version__ = ')(\\d+\\.\\d+\\.\\d+)");

  private ChosenLibtorch() {}

  /// Its directories; none where nobody has chosen one.
  static List<Path> directories() {
    return Optional.ofNullable(Utils.getEnvOrSystemProperty(VARIABLE))
        .filter(path -> !path.isEmpty())
        .stream()
        .flatMap(path -> Stream.of(path.split(File.pathSeparator)))
        .map(Path::of)
        .map(path -> Files.isRegularFile(path) ? path.toAbsolutePath().getParent() : path)
        .toList();
  }

  /// @throws EngineException when no libtorch is there, or one that the JNI library does not fit
  static void check(List<Path> directories) {
    if (directories.isEmpty()) {
      return;
    }
    var libtorch =
        directories.stream()
            .filter(directory -> Files.isRegularFile(directory.resolve("libtorch.so")))
            .findFirst()
            .orElseThrow(
                () ->
                    new EngineException(
                        "%s: found no libtorch.so in %s, expected a directory such as torch/lib of torch %sx"
                            .formatted(VARIABLE, directories, NEEDED)));
    var version = version(libtorch);
    boolean bringsItsOwn = Files.exists(libtorch.resolve("libdjl_torch.so"));
    if (!bringsItsOwn && version.isPresent() && !version.get().startsWith(NEEDED)) {
      throw new EngineException(
          "%s: found libtorch %s in %s, expected %sx, or the libdjl_torch.so that was made for it in the same directory"
              .formatted(VARIABLE, version.get(), libtorch, NEEDED));
    }
  }

  private static Optional<String> version(Path libtorch) {
    return Stream.of("version.py", "build-version")
        .map(name -> libtorch.toAbsolutePath().resolveSibling(name))
        .filter(Files::isRegularFile)
        .flatMap(ChosenLibtorch::read)
        .findFirst();
  }

  private static Stream<String> read(Path file) {
    try {
      return VERSION.matcher(Files.readString(file)).results().map(result -> result.group(1));
    } catch (IOException e) {
      return Stream.empty();
    }
  }
}
