package dev.berth.fuzz;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;

/// Where Jazzer enters; see `tools/reliability/decoders`. It finds these methods by their names.
public final class JazzerTarget {

    private static Decoder decoder;

    private JazzerTarget() {}

    /// Puts the examples where libFuzzer looks for inputs to begin with.
    public static void fuzzerInitialize() throws IOException {
        decoder = Decoder.valueOf(System.getProperty("decoder").toUpperCase(Locale.ROOT));
        for (int i = 0; i < decoder.examples().size(); i++) {
            Files.write(
                    Path.of(System.getProperty("corpus")).resolve("example-" + i),
                    decoder.examples().get(i));
        }
    }

    public static void fuzzerTestOneInput(byte[] bytes) throws Exception {
        decoder.readOrRefuse(bytes);
    }
}
