package dev.berth.testing;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/// The tiny Japanese BERT of `trace/japanese_bert_artifact.py`, with the tiny dictionary of MeCab
/// that it leaves out.
public final class JapaneseArtifact {

    private static final Path RESOURCES = Path.of("src/test/resources").toAbsolutePath();

    private JapaneseArtifact() {}

    /// Puts the artifact into an empty directory.
    public static Path write(Path directory) throws IOException {
        for (var name : List.of("model.json", "model.pt", "tokenizer.json", "sample.json", "sample-response.json")) {
            Files.copy(RESOURCES.resolve("artifacts/japanese-bert").resolve(name), directory.resolve(name));
        }
        writeDictionary(Files.createDirectory(directory.resolve("mecab")));
        return directory;
    }

    /// Puts the dictionary alone into an empty directory.
    public static void writeDictionary(Path directory) throws IOException {
        var tiny = RESOURCES.resolve("mecab/tiny");
        for (var name : List.of("sys.dic", "unk.dic", "matrix.bin")) {
            Files.copy(tiny.resolve(name), directory.resolve(name));
        }
        Files.write(directory.resolve("char.bin"), Gzipped.bytes(tiny.resolve("char.bin.gz")));
    }
}
