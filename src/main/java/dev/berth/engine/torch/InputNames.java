package dev.berth.engine.torch;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import java.util.zip.ZipFile;

/// The names of the parameters of a TorchScript's `forward`. DJL's JNI library does not give them, so they are read from
/// the code in the file, which is a ZIP:
///
/// ```
/// archive/data.pkl             begins with the class of the model: PROTO 2, GLOBAL __torch__.net⏎Net⏎
/// archive/code/__torch__/net.py
///   class Net(Module):
///     def forward(self: __torch__.net.Net,
///       left: Tensor,
///       right: Tensor) -> Tensor:
/// ```
final class InputNames {

  private static final Pattern MODEL_CLASS = Pattern.compile("^\\x80\\x02c([\\w.]+)\n(\\w+)\n");
  private static final int LONGEST_CLASS = 1000;
  private static final Pattern FORWARD = Pattern.compile("\n  def forward\\(self: [\\w.]+([^)]*?)\\) -> ");
  private static final Pattern PARAMETER = Pattern.compile(",\\s+(\\w+): ");

  private InputNames() {}

  /// The names in their order. Empty where the file is not laid out like this.
  static List<String> of(Path file) {
    try (var zip = new ZipFile(file.toFile())) {
      var root = zip.stream().map(entry -> entry.getName()).filter(name -> name.endsWith("/data.pkl")).findFirst()
          .map(name -> name.substring(0, name.indexOf('/') + 1)).orElse("");
      var model = MODEL_CLASS.matcher(read(zip, root + "data.pkl", LONGEST_CLASS));
      return model.find() ? parameters(zip, root, model.group(1), model.group(2)) : List.of();
    } catch (IOException e) {
      return List.of();
    }
  }

  private static List<String> parameters(ZipFile zip, String root, String module, String name) throws IOException {
    var code = read(zip, root + "code/" + module.replace('.', '/') + ".py", Integer.MAX_VALUE);
    var ofClass = code.substring(Math.max(0, code.indexOf("class " + name + "(Module):")));
    return FORWARD.matcher(ofClass).results().limit(1)
        .flatMap(forward -> PARAMETER.matcher(forward.group(1)).results())
        .map(parameter -> parameter.group(1)).toList();
  }

  private static String read(ZipFile zip, String name, int most) throws IOException {
    var entry = zip.getEntry(name);
    if (entry == null) {
      return "";
    }
    try (var content = zip.getInputStream(entry)) {
      return new String(content.readNBytes(most), StandardCharsets.ISO_8859_1);
    }
  }
}
