package dev.berth.search;

import dev.berth.testing.OnnxModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.IntStream;

/// Small models whose answers can be told from their texts.
final class SearchModels {

    static final Path DENSE =
            Path.of("src/test/resources/tasks/sentence-embeddings-bert").toAbsolutePath();

    /// Tokens of the vocabulary of [#DENSE].
    static final int TOKENS = 243;

    private SearchModels() {}

    /// The weight of each token of a text is log(1 + its id / 10), and no other token has one.
    ///
    /// @param isPooled whether the file makes the weights of its logits
    static Path sparse(Path directory, boolean isPooled, String parameters) throws IOException {
        var weights = new float[TOKENS];
        IntStream.range(0, TOKENS).forEach(id -> weights[id] = id / 10F);
        OnnxModel.of("""
                in input_ids INT64 rows tokens; OneHot input_ids depth values -> hot; Mul hot weights -> logits;
                %s""".formatted(isPooled ? """
                ReduceMax logits -> most axes=[1] keepdims=0; Add most one -> more; Log more -> sparse_embedding;
                out sparse_embedding FLOAT rows %d""".formatted(TOKENS) : """
                out logits FLOAT rows tokens %d""".formatted(TOKENS)))
                .initializer(OnnxModel.tensor("depth", OnnxModel.INT64).number(7, TOKENS))
                .weights("values", new float[] {0, 1}, 2)
                .weights("weights", weights, TOKENS)
                .weights("one", new float[] {1})
                .write(directory.resolve("model.onnx"));
        artifact(directory, "sparse-embeddings", isPooled ? "sparse_embedding" : "logits", parameters);
        return directory;
    }

    /// The score of a pair is the share of its tokens that are of the second text.
    static Path reranker(Path directory) throws IOException {
        OnnxModel.of("""
                in input_ids INT64 rows tokens; in token_type_ids INT64 rows tokens;
                Cast token_type_ids -> types to=FLOAT; ReduceMean types -> logits axes=[1];
                out logits FLOAT rows 1""").write(directory.resolve("model.onnx"));
        artifact(directory, "text-classification", "logits", "");
        return directory;
    }

    /// [#DENSE] with other defaults of its parameters.
    static Path dense(Path directory, String parameters) throws IOException {
        for (var name : new String[] {"model.pt", "tokenizer.json"}) {
            Files.copy(DENSE.resolve(name), directory.resolve(name));
        }
        Files.copy(DENSE.resolve("model.json"), directory.resolve("model.json"));
        return with(directory, "\"parameters\": {%s}".formatted(parameters));
    }

    /// With one more field of `model.json`.
    static Path with(Path directory, String field) throws IOException {
        var json = Files.readString(directory.resolve("model.json"));
        Files.writeString(directory.resolve("model.json"), json.replaceFirst("\\{", "{%s,".formatted(field)));
        return directory;
    }

    private static void artifact(Path directory, String task, String output, String parameters) throws IOException {
        Files.copy(DENSE.resolve("tokenizer.json"), directory.resolve("tokenizer.json"));
        Files.writeString(directory.resolve("model.json"), """
                {"format": 1, "target": "cpu", "precision": "fp32", "maxSequenceLength": 16,
                 "task": "%s", "inputs": [%s], "outputs": ["%s"], "labels": ["LABEL_0"], "shapes": "dynamic",
                 "files": [{"path": "model.onnx"}], "parameters": {%s},
                 "pair": {"before": [2], "between": [3], "after": [3], "padding": 0, "questionType": 0, "contextType": 1}}""".formatted(
                        task,
                        task.startsWith("text") ? "\"input_ids\", \"token_type_ids\"" : "\"input_ids\"",
                        output,
                        parameters));
    }
}
