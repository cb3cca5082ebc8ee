package dev.berth.engine.torch;

import dev.berth.engine.GraphNames;
import dev.berth.engine.GraphPort;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.zip.ZipFile;

/// The names in a TorchScript's `forward`. DJL's JNI library does not give them, so they are read
/// from the code in the file, which is a ZIP:
///
/// ```
/// archive/data.pkl             begins with the class of the model: PROTO 2, GLOBAL __torch__.net⏎Net⏎
/// archive/code/__torch__/net.py
///   class Net(Module):
///     def forward(self: __torch__.net.Net,
///       left: Tensor,
///       right: Optional[Tensor]=None) -> Dict[str, Tensor]:
///       _0 = {"sum": …, "product": …}
///       return _0
/// ```
final class TorchNames {

    private static final Pattern MODEL_CLASS = Pattern.compile("^\\x80\\x02c([\\w.]+)\n(\\w+)\n");
    private static final int LONGEST_CLASS = 1000;

    /// What is inflated of a file of code.
    private static final int LONGEST_CODE = 16 << 20;

    private static final Pattern FORWARD =
            Pattern.compile("\n  def forward\\(self: [\\w.]+(.*?)\\) -> ([^\n]*):\n", Pattern.DOTALL);
    private static final Pattern PARAMETER = Pattern.compile(",\\s+(\\w+): ((?:(?!,\\s+\\w+: )[^=])*)(=)?");

    private static final Pattern TAKES_A_TENSOR = Pattern.compile("Tensor|Any|(Optional|Union)\\[.*\\bTensor\\b.*]");

    /// What is no tensor wherever it stands in the type of what is returned.
    private static final Pattern NO_TENSOR = Pattern.compile("\\b(NoneType|int|float|bool|str|complex|number)\\b");

    /// The statement after which nothing follows in the method.
    private static final Pattern RETURN = Pattern.compile("\n    return (\\{|\\w+\n)");

    /// A text, which is a key where a value follows, or a bracket.
    private static final Pattern PART_OF_DICT = Pattern.compile("\"([^\"]*)\"(: )?|[\\[({\\])}]");

    private static final Pattern END_OF_METHOD = Pattern.compile("\n {0,3}\\S");

    private TorchNames() {}

    /// What can be read; nothing where the file is not laid out like this.
    static GraphNames of(Path file) {
        try (var zip = new ZipFile(file.toFile())) {
            var root = zip.stream()
                    .map(entry -> entry.getName())
                    .filter(name -> name.endsWith("/data.pkl"))
                    .findFirst()
                    .map(name -> name.substring(0, name.indexOf('/') + 1))
                    .orElse("");
            var model = MODEL_CLASS.matcher(read(zip, root + "data.pkl", LONGEST_CLASS));
            return model.find() ? names(zip, root, model.group(1), model.group(2)) : GraphNames.UNKNOWN;
        } catch (IOException e) {
            return GraphNames.UNKNOWN;
        }
    }

    private static GraphNames names(ZipFile zip, String root, String module, String name) throws IOException {
        var code = read(zip, root + "code/" + module.replace('.', '/') + ".py", LONGEST_CODE);
        var ofClass = code.substring(Math.max(0, code.indexOf("class " + name + "(Module):")));
        var forward = FORWARD.matcher(ofClass);
        if (!forward.find()) {
            return GraphNames.UNKNOWN;
        }
        var parameters = PARAMETER.matcher(forward.group(1)).results().toList();
        var required = parameters.stream()
                .takeWhile(parameter -> parameter.group(3) == null)
                .toList();
        var returned = forward.group(2);
        var keys = returned.startsWith("Dict[str, ")
                ? keys(body(ofClass.substring(forward.end() - 1)))
                : List.<String>of();
        return new GraphNames(
                parameters.stream()
                        .map(parameter -> GraphPort.named(parameter.group(1), !required.contains(parameter)))
                        .toList(),
                keys.stream().map(key -> GraphPort.named(key, false)).toList(),
                List.of(),
                false,
                false,
                parameters.isEmpty() ? Optional.of("takes nothing") : misfit(required, returned));
    }

    private static Optional<String> misfit(List<MatchResult> required, String returned) {
        // What may be a tensor is known only once it is returned.
        boolean isSure = !returned.contains("Optional[") && !returned.contains("Union[");
        return required.stream()
                .filter(parameter -> !TAKES_A_TENSOR.matcher(parameter.group(2)).matches())
                .map(parameter -> "takes %s: %s".formatted(parameter.group(1), parameter.group(2)))
                .findFirst()
                .or(() -> isSure
                                && NO_TENSOR
                                        .matcher(returned.replace("Dict[str, ", "Dict["))
                                        .find()
                        ? Optional.of("returns " + returned)
                        : Optional.empty());
    }

    private static String body(String code) {
        var end = END_OF_METHOD.matcher(code);
        return end.find() ? code.substring(0, end.start() + 1) : code + "\n";
    }

    /// The keys of the dict that is returned, sorted as [TorchGraph] sorts them; none where a branch
    /// or a call makes it.
    private static List<String> keys(String body) {
        var returned = RETURN.matcher(body);
        if (!returned.find()) {
            return List.of();
        }
        if (returned.group(1).equals("{")) {
            return keysOf(body, returned.end());
        }
        var variable = returned.group(1).strip();
        var literal = "\n    %s = {".formatted(variable);
        int made = body.indexOf(literal);
        // Anything else that is done with it may change its keys.
        boolean untouched = Pattern.compile("\\b%s\\b".formatted(variable))
                        .matcher(body)
                        .results()
                        .count()
                == 2;
        return made < 0 || !untouched ? List.of() : keysOf(body, made + literal.length());
    }

    /// @param from behind the brace of a dict's literal
    private static List<String> keysOf(String code, int from) {
        var keys = new TreeSet<String>();
        int depth = 1;
        var parts = PART_OF_DICT.matcher(code).region(from, code.length());
        while (depth > 0 && parts.find()) {
            switch (parts.group().charAt(0)) {
                case '(', '[', '{' -> depth++;
                case ')', ']', '}' -> depth--;
                default -> {
                    if (parts.group().contains("\\")) {
                        return List.of();
                    }
                    if (depth == 1 && parts.group(2) != null) {
                        keys.add(parts.group(1));
                    }
                }
            }
        }
        return depth > 0 ? List.of() : List.copyOf(keys);
    }

    /// The first `most` bytes of an entry, one a character; empty where it is not there.
    static String read(ZipFile zip, String name, int most) throws IOException {
        var entry = zip.getEntry(name);
        if (entry == null) {
            return "";
        }
        try (var content = zip.getInputStream(entry)) {
            return new String(content.readNBytes(most), StandardCharsets.ISO_8859_1);
        }
    }
}
