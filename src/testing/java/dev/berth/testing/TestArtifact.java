package dev.berth.testing;

import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.function.Consumer;
import java.util.regex.Pattern;

/// Model artifacts made of the sample's tokenizer and of the TorchScript files that
/// `trace/fixtures.py` makes.
public final class TestArtifact {

    public static final Path TORCHSCRIPT =
            Path.of("src/test/resources/torchscript").toAbsolutePath();

    /// The library of the operators that the files named `neuron-…` use, as Neuron's own use those of
    /// libtorchneuron.so.
    public static final Path OPERATORS =
            Path.of("src/test/resources/native/linux-x86_64/libtestops.so").toAbsolutePath();

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern SHAPE = Pattern.compile("(\\d+)x(\\d+)\\.pt");

    /// For [#tensors], of `sum-and-product.pt`.
    public static final String TWO_INPUTS = """
      {"format": 1, "files": [{"path": "sum-and-product.pt"}], "outputs": ["product", "sum"],
       "inputs": ["left", {"name": "right", "type": "int64"}]}""";

    private TestArtifact() {}

    /// An artifact that takes any shape.
    public static Path dynamic(Path directory, String file) throws IOException {
        return write(directory, model -> addFile(directory, model, file));
    }

    /// An artifact of compiled shapes, which the files have in their names: `waves-4x128.pt` takes 4
    /// rows of 128 tokens.
    public static Path compiled(Path directory, String target, String... files) throws IOException {
        return write(directory, model -> {
            model.put("shapes", "compiled").put("target", target);
            for (var file : files) {
                var shape = SHAPE.matcher(file);
                if (!shape.find()) {
                    throw new IllegalArgumentException(file);
                }
                addFile(directory, model, file)
                        .put("batch", Integer.parseInt(shape.group(1)))
                        .put("sequence", Integer.parseInt(shape.group(2)));
            }
        });
    }

    /// An artifact of tensors in a new directory below `parent`.
    ///
    /// @param modelJson null: it has none
    public static Path tensors(Path parent, String name, String file, String modelJson) throws IOException {
        var artifact = Files.createDirectory(parent.resolve(name));
        Files.copy(TORCHSCRIPT.resolve(file), artifact.resolve(file));
        if (modelJson != null) {
            Files.writeString(artifact.resolve("model.json"), modelJson);
        }
        return artifact;
    }

    private static Path write(Path directory, Consumer<ObjectNode> change) throws IOException {
        copy(directory, TestServer.SAMPLE_ARTIFACT.resolve("tokenizer.json"));
        var model = (ObjectNode)
                JSON.readTree(TestServer.SAMPLE_ARTIFACT.resolve("model.json").toFile());
        model.withArray("files").removeAll();
        change.accept(model);
        JSON.writeValue(directory.resolve("model.json").toFile(), model);
        return directory;
    }

    private static ObjectNode addFile(Path directory, ObjectNode model, String file) {
        try {
            copy(directory, TORCHSCRIPT.resolve(file));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
        return model.withArray("files").addObject().put("path", file);
    }

    /// Not a symbolic link, because containers see the directory alone.
    private static void copy(Path directory, Path file) throws IOException {
        Files.copy(file, directory.resolve(file.getFileName()));
    }
}
