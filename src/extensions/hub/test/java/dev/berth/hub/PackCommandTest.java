package dev.berth.hub;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.artifact.Target;
import dev.berth.testing.OnnxModel;
import dev.berth.testing.TestServer;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import picocli.CommandLine;

/// `./serve pack` on directories of Hugging Face, and such directories served as they are. Their
/// models are a few operators each, with the sample's tokenizer.
class PackCommandTest {

    private static final OnnxModel.Message TO_FLOAT = OnnxModel.attribute("to", OnnxModel.FLOAT);

    @TempDir
    private Path parent;

    private Path source;
    private Path output;
    private final List<String> said = new ArrayList<>();

    @BeforeEach
    void makeDirectory() throws IOException {
        source = Files.createDirectory(parent.resolve("tiny"));
        output = parent.resolve("artifact");
        Files.copy(TestServer.SAMPLE_ARTIFACT.resolve("tokenizer.json"), source.resolve("tokenizer.json"));
        Files.writeString(source.resolve("tokenizer_config.json"), "{\"model_max_length\": 64}");
    }

    @Test
    void aClassifierIsPackedInInt8WhereThatAgrees() throws Exception {
        config("BertForSequenceClassification", "\"id2label\": {\"1\": \"most\", \"0\": \"least\"}");
        var onnx = Files.createDirectory(source.resolve("onnx"));
        leastAndMost("least", "most").write(onnx.resolve("model.onnx"));
        leastAndMost("most", "least").write(onnx.resolve("model_int8.onnx"));
        leastAndMost("least", "most").write(onnx.resolve("model_quantized.onnx"));
        leastAndMost("most", "least").write(onnx.resolve("model_q4.onnx"));
        pack();
        assertThat(said)
                .contains(
                        "task: text-classification, by BertForSequenceClassification",
                        "file: onnx/model.onnx, fp32",
                        "labels: 2, least, most",
                        "rows: of up to 64 tokens",
                        "sample: [{\"label\":\"most\",\"score\":1.0}]")
                .anyMatch(line -> line.matches("onnx/model_int8.onnx: .* to 0 of \\d+ .*; not taken"))
                .anyMatch(line -> line.startsWith("onnx/model_quantized.onnx: ") && line.endsWith("; taken"));
        assertThat(output.resolve("model.json"))
                .content()
                .contains("\"precision\":\"int8\"", "\"agreement\":{", "model_quantized.onnx")
                .contains("\"pair\":{\"padding\":0}");
        assertThat(output.resolve("sample-response.json")).doesNotExist();
        assertThat(answers(output, "\"a text\"", "{\"text\": \"a\", \"text_pair\": \"pair\"}"))
                .isEqualTo(answers(source, "\"a text\"", "{\"text\": \"a\", \"text_pair\": \"pair\"}"))
                .first()
                .isEqualTo("[{\"label\":\"most\",\"score\":1.0}]");
        assertThat(parent.toFile().list()).as("nothing else is left").hasSize(2);

        output = parent.resolve("for a GPU");
        pack(Target.GPU);
        assertThat(output.resolve("model.json")).content().contains("\"target\":\"gpu\",\"precision\":\"fp32\"");
        assertThatThrownBy(() -> answers(output, "\"a text\""))
                .hasMessageContaining("is traced for gpu, and this server uses cpu");
    }

    @Test
    void aSnapshotOfTheCacheIsPackedWithItsWeights() throws Exception {
        config("BertModel", "\"max_position_embeddings\": 32");
        Files.writeString(source.resolve("modules.json"), """
        [{"type": "sentence_transformers.models.Transformer", "path": ""},
         {"type": "sentence_transformers.models.Pooling", "path": "1_Pooling"},
         {"type": "sentence_transformers.models.Normalize", "path": "2_Normalize"}]""");
        Files.createDirectory(source.resolve("1_Pooling"));
        Files.writeString(
                source.resolve("1_Pooling/config.json"),
                "{\"pooling_mode_cls_token\": true, \"pooling_mode_max_tokens\": true, \"pooling_mode_mean_tokens\": false}");
        // The float32 2, as ONNX has it.
        Files.write(source.resolve("model.onnx_data"), new byte[] {0, 0, 0, 0x40});
        ids(new OnnxModel())
                .weightsIn("model.onnx_data", "scale", 4, 1)
                .initializer(OnnxModel.tensor("axes", OnnxModel.INT64, 1).bytes(9, new byte[] {2, 0, 0, 0, 0, 0, 0, 0}))
                .node("Unsqueeze", List.of("numbers", "axes"), List.of("vectors"))
                .node("Mul", List.of("vectors", "scale"), List.of("last_hidden_state"))
                .output("pooler_output", OnnxModel.FLOAT, "rows", "tokens")
                .output("last_hidden_state", OnnxModel.FLOAT, "rows", "tokens", 1)
                .node("Identity", List.of("numbers"), List.of("pooler_output"))
                .write(source.resolve("model.onnx"));
        var cache = parent.resolve("models--some--model");
        var snapshot = Files.createDirectories(cache.resolve("snapshots/0a1b/1_Pooling"))
                .getParent();
        Files.createDirectory(cache.resolve("blobs"));
        try (var files = Files.walk(source)) {
            for (var file : files.filter(Files::isRegularFile).toList()) {
                var blob = cache.resolve("blobs/" + Integer.toHexString(file.hashCode()));
                Files.createSymbolicLink(snapshot.resolve(source.relativize(file)), Files.copy(file, blob));
            }
        }
        source = snapshot;
        pack();
        assertThat(said)
                .contains(
                        "task: sentence-embeddings, by modules.json",
                        "pooling: cls, max, normalize",
                        "rows: of up to 32 tokens");
        assertThat(output.resolve("model.json")).content().contains("\"model\":\"some/model\"");
        assertThat(output.resolve("model.onnx_data")).isRegularFile();
        assertThat(answers(output, "\"one\"")).containsExactly("[0.04974111,0.99876213]");
        assertThatThrownBy(() -> answers(snapshot, "\"one\""))
                .hasMessageContaining("its weights are in model.onnx_data")
                .hasMessageEndingWith("serve pack copies them");
    }

    @Test
    void whatTheFilesOfSentenceTransformersSayIsPackedToo() throws Exception {
        config("BertModel", "\"max_position_embeddings\": 32");
        Files.writeString(
                source.resolve("sentence_bert_config.json"), "{\"do_lower_case\": true, \"max_seq_length\": 9}");
        Files.writeString(
                source.resolve("config_sentence_transformers.json"),
                "{\"prompts\": {\"query\": \"query : \"}, \"default_prompt_name\": \"query\", \"truncate_dim\": 1}");
        ids(new OnnxModel())
                .initializer(OnnxModel.tensor("axes", OnnxModel.INT64, 1).bytes(9, new byte[] {2, 0, 0, 0, 0, 0, 0, 0}))
                .node("Unsqueeze", List.of("numbers", "axes"), List.of("vectors"))
                .output("vectors", OnnxModel.FLOAT, "rows", "tokens", 1)
                .write(source.resolve("model.onnx"));
        pack();
        assertThat(said)
                .contains("rows: of up to 9 tokens")
                .anyMatch(line -> line.startsWith("warning: modules.json: not found, so the mean"));
        assertThat(output.resolve("model.json"))
                .content()
                .contains("\"lowerCase\":true", "\"parameters\":{\"prompt\":\"query : \",\"truncate_dim\":1}")
                .doesNotContain("warning");
        assertThat(answers(output, "\"One\"", "{\"inputs\": \"one\", \"parameters\": {\"prompt\": \"\"}}"))
                .isEqualTo(answers(source, "\"One\"", "{\"inputs\": \"one\", \"parameters\": {\"prompt\": \"\"}}"))
                .doesNotHaveDuplicates();
    }

    @Test
    void aModelOfQuestionsHasItsOutputsByNameAndItsAnswerChecked() throws Exception {
        config(
                "RobertaForQuestionAnswering",
                "\"model_type\": \"roberta\", \"max_position_embeddings\": 34, \"pad_token_id\": 1");
        ids(new OnnxModel())
                .node("Neg", List.of("numbers"), List.of("end"))
                .output("end", OnnxModel.FLOAT, "rows", "tokens")
                .output("start", OnnxModel.FLOAT, "rows", "tokens")
                .node("Identity", List.of("numbers"), List.of("start"))
                .write(source.resolve("model.onnx"));
        pack();
        assertThat(said).contains("rows: of up to 32 tokens");
        assertThat(output.resolve("model.json")).content().contains("\"outputs\":[\"start\",\"end\"]");
        assertThat(output.resolve("sample-response.json")).content().contains("\"answer\":");
        var question = "{\"question\": \"Who?\", \"context\": \"Marie Curie was born in Warsaw.\"}";
        assertThat(answers(output, question)).isEqualTo(answers(source, question));
    }

    @Test
    void picturesArePreparedAsTheirProcessorDoes() throws Exception {
        Files.delete(source.resolve("tokenizer.json"));
        config("ResNetForImageClassification", "\"id2label\": {\"0\": \"red\", \"1\": \"green\", \"2\": \"blue\"}");
        Files.writeString(source.resolve("preprocessor_config.json"), """
        {"image_processor_type": "ConvNextImageProcessor", "crop_pct": 0.875, "resample": 3, "size": {"shortest_edge": 7},
         "do_rescale": true, "rescale_factor": 0.00392156862745098, "image_mean": [0.5, 0.5, 0.5], "image_std": [0.5, 0.5, 1]}""");
        meanColours(2, 7).write(source.resolve("classifier.onnx"));
        pack();
        assertThat(said)
                .contains(
                        "file: classifier.onnx, fp32",
                        "pictures: {\"filter\":\"bicubic\",\"resize\":{\"shorterSide\":8},\"crop\":{\"height\":7,\"width\":7},"
                                + "\"scale\":0.00392156862745098,\"mean\":[0.5,0.5,0.5],\"deviation\":[0.5,0.5,1.0],\"channels\":\"rgb\"}");
        assertThat(output.resolve("sample-response.json")).content().contains("\"red\"", "\"blue\"");
        assertThat(answers(output)).isEmpty();
    }

    /// By transformers 5.18: BEiT's processor, which Data2Vec has too, takes a number for a square,
    /// and CLIP's takes it for the shorter side.
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        BeitFeatureExtractor|false|{"height":8,"width":8}
        BeitImageProcessor|true|{"height":8,"width":8}
        DeiTFeatureExtractor|true|{"height":8,"width":8}
        EfficientNetImageProcessor|false|{"height":8,"width":8}
        PvtImageProcessor|true|{"height":8,"width":8}
        CLIPFeatureExtractor|true|{"shorterSide":8}
        BitImageProcessor|true|{"shorterSide":8}
        MobileNetV2FeatureExtractor|true|{"shorterSide":8}
        LevitFeatureExtractor|true|{"shorterSide":9}
        """)
    void aNumberIsASquareOrAShorterSideByTheProcessor(String type, boolean crops, String resize) throws Exception {
        classifierOfPictures(type, "\"size\": 8, \"crop_size\": 8, \"do_center_crop\": " + crops);
        pack();
        assertThat(said)
                .anySatisfy(line -> assertThat(line)
                        .startsWith("pictures: {")
                        .contains("\"resize\":" + resize, crops ? "\"crop\"" : ""));
        assertThat(answers(source)).isEmpty();
    }

    @Test
    void noMessageNamesAModelJsonThatIsNotThere() throws Exception {
        classifierOfPictures("CLIPImageProcessor", "\"size\": 8");
        refusedAtStart("preprocessor_config.json: size: found 8 and no crop, expected pictures of one size");
        classifierOfPictures("ViTImageProcessor", "\"size\": {\"longest_edge\": 8}");
        refusedAtStart("preprocessor_config.json: size: found {\"longest_edge\":8}, expected a height and a width");
        classifierOfPictures("ViTImageProcessor", "\"size\": 8, \"image_std\": 0, \"image_mean\": 0");
        refusedAtStart("config.json and the files beside it: image.deviation: found [0.0, 0.0, 0.0], expected no 0");
        assertThatThrownBy(this::pack)
                .hasMessageContaining(source + ": config.json and the files beside it: image.deviation")
                .hasMessageNotContaining("model.json");
        classifierOfPictures("ViTImageProcessor", "\"size\": 8");
        config("BeitForImageClassification", "\"num_labels\": 0");
        refusedAtStart("config.json and the files beside it: labels: found an empty list, expected");
        classifierOfPictures("ViTImageProcessor", "\"size\": 9");
        refusedAtStart("the model does not take what the files beside it say: ");
    }

    private void refusedAtStart(String... parts) {
        assertThatThrownBy(() -> answers(source)).hasMessageContainingAll(parts).hasMessageNotContaining("model.json");
    }

    private void classifierOfPictures(String processor, String more) throws IOException {
        Files.deleteIfExists(source.resolve("tokenizer.json"));
        config("BeitForImageClassification", "\"num_labels\": 3");
        Files.writeString(
                source.resolve("preprocessor_config.json"),
                "{\"feature_extractor_type\": \"%s\", %s}".formatted(processor, more));
        meanColours("rows", 8).write(source.resolve("model.onnx"));
    }

    private static OnnxModel meanColours(Object rows, int side) {
        var axes = OnnxModel.attribute("axes", List.of(2L, 3L));
        var keepsNone = OnnxModel.attribute("keepdims", 0);
        return new OnnxModel()
                .input("pixel_values", OnnxModel.FLOAT, rows, 3, side, side)
                .node("ReduceMean", List.of("pixel_values"), List.of("logits"), axes, keepsNone)
                .output("logits", OnnxModel.FLOAT, rows, 3);
    }

    @Test
    void sparseEmbeddingsArePooledHere() throws Exception {
        sparse("SpladePooling", "");
        Files.writeString(source.resolve("idf.json"), "{\"one\": 3}");
        pack();
        assertThat(said).contains("task: sparse-embeddings, by modules.json", "pooling: max of the logits");
        assertThat(output.resolve("idf.json")).isRegularFile();
        assertThat(answers(output, "\"one\"").getFirst())
                .contains("\"one\":2.3025851")
                .contains("\"[CLS]\":2.3025851");
        assertThat(answers(output, "{\"inputs\": \"one\", \"parameters\": {\"input_type\": \"query\"}}"))
                .containsExactly("{\"one\":3.0}");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        SpladePooling|"pooling_strategy": "sum"|1_Splade/config.json: pooling_strategy: found "sum", expected "max"; use trace.py
        SpladePooling|"activation_function": "log1p_relu"|1_Splade/config.json: activation_function: found "log1p_relu", expected "relu"; use trace.py
        SpladePooling"}, {"type": "x.Router|"a": 1|modules.json: found Router, expected MLMTransformer or SpladePooling; use trace.py
        """)
    void otherSparsePoolingIsRefused(String type, String setting, String problem) throws Exception {
        sparse(type, setting);
        assertThatThrownBy(this::pack).hasMessageContaining(problem);
    }

    /// The logit of a token of the text is 9, and that of any other 0.
    private void sparse(String type, String setting) throws Exception {
        config("BertForMaskedLM", "\"vocab_size\": 32451");
        Files.writeString(source.resolve("modules.json"), """
                [{"path": "", "type": "x.MLMTransformer"}, {"path": "1_Splade", "type": "x.%s"}]""".formatted(type));
        Files.writeString(
                Files.createDirectory(source.resolve("1_Splade")).resolve("config.json"), "{%s}".formatted(setting));
        oneHot().write(source.resolve("model.onnx"));
    }

    @Test
    void theMaskedTokenIsFound() throws Exception {
        config("BertForMaskedLM", "\"vocab_size\": 32451");
        oneHot().write(source.resolve("model.onnx"));
        pack();
        assertThat(answers(output, "\"a [MASK]\"")).first().asString().contains("\"token_str\":\"[MASK]\"");
    }

    private static OnnxModel oneHot() {
        return new OnnxModel()
                .input("input_ids", OnnxModel.INT64, "rows", "tokens")
                .initializer(OnnxModel.tensor("depth", OnnxModel.INT64).number(7, 32451))
                .weights("values", new float[] {0, 9}, 2)
                .node("OneHot", List.of("input_ids", "depth", "values"), List.of("logits"))
                .output("logits", OnnxModel.FLOAT, "rows", "tokens", 32451);
    }

    @Test
    void theInt8FileForThisProcessorComesFirst() throws Exception {
        config("BertForSequenceClassification", "\"num_labels\": 2");
        var agreeing = List.of("model", "model_quantized", "model_qint8_arm64", "model_qint8_avx2", "model_int8");
        for (var name : agreeing) {
            leastAndMost("least", "most").write(source.resolve(name + ".onnx"));
        }
        pack();
        assertThat(output.resolve("model.json"))
                .content()
                .contains(
                        System.getProperty("os.arch").equals("aarch64")
                                ? "model_qint8_arm64.onnx"
                                : "model_qint8_avx2.onnx");
    }

    @Test
    void aFileOfAnyNameMayHaveItsWeightsInFp16() throws Exception {
        config("BertForTokenClassification", "\"num_labels\": 1");
        ids(new OnnxModel())
                .initializer(
                        OnnxModel.tensor("half", OnnxModel.FLOAT16, 1, 1, 1).bytes(9, new byte[2]))
                .initializer(OnnxModel.tensor("axes", OnnxModel.INT64, 1).bytes(9, new byte[] {2, 0, 0, 0, 0, 0, 0, 0}))
                .node("Cast", List.of("half"), List.of("scale"), TO_FLOAT)
                .node("Unsqueeze", List.of("numbers", "axes"), List.of("columns"))
                .node("Mul", List.of("columns", "scale"), List.of("logits"))
                .output("logits", OnnxModel.FLOAT, "rows", "tokens", 1)
                .write(source.resolve("model.onnx"));
        pack();
        assertThat(said).contains("file: model.onnx, fp16");
        assertThat(output.resolve("model.json")).content().contains("\"precision\":\"fp16\"");
    }

    @Test
    void whatCantBePackedIsRefusedWithOneSentence() throws Exception {
        classifier().write(source.resolve("model.onnx"));
        refused("config.json: architectures: found nothing, expected one that ends with ForQuestionAnswering");
        config("GPT2LMHeadModel", "\"a\": 1");
        refused("found the text \"GPT2LMHeadModel\", expected one that ends with");
        config("BertForTokenClassification", "\"num_labels\": 1");
        Files.writeString(source.resolve("model.json"), "{}");
        refused(source + ": found a model artifact already", "serve it with serve --model-dir " + source);
        Files.delete(source.resolve("model.json"));
        Files.delete(source.resolve("model.onnx"));
        refused("found no .onnx file in it or in onnx/; make an artifact with trace.py");
        for (var name : List.of("a", "b", "c")) {
            classifier().write(source.resolve(name + ".onnx"));
        }
        refused("found [a.onnx, b.onnx, c.onnx], and none is model.onnx");
        for (var name : List.of("b", "c")) {
            Files.delete(source.resolve(name + ".onnx"));
        }
        var model = source.resolve("a.onnx");
        Files.write(model, Arrays.copyOf(classifier().toBytes(), 60));
        refused("a.onnx: found no ONNX model, or only the beginning of one; download it again");
        classifier().opset("", 99).write(model);
        refused(model + " can't be loaded as ONNX: ", "opset_version");
        classifier().node("Nonsense", List.of("numbers"), List.of("more")).write(model);
        refused(model + " can't be loaded as ONNX: ", "Nonsense", "--extra-libraries");
        classifier()
                .weightsIn("gone.bin", "w", 4, 1)
                .node("Identity", List.of("w"), List.of("v"))
                .write(model);
        refused("its weights are in gone.bin: not found");
        classifier().input("past", OnnxModel.FLOAT, 1).write(model);
        refused("a.onnx: found the inputs [input_ids, past], expected some of [input_ids");
        ids(new OnnxModel())
                .output("x", OnnxModel.FLOAT, 1)
                .output("y", OnnxModel.FLOAT, 1)
                .write(model);
        refused("a.onnx: found the outputs [x, y], expected logits");
        Files.writeString(source.resolve("tokenizer.json"), "{}");
        classifier().write(model);
        refused("tokenizer.json can't be loaded as a tokenizer");
        Files.delete(source.resolve("tokenizer.json"));
        refused("tokenizer.json: not found; save it beside the model");
        Files.createDirectory(output);
        refused("--output " + output + ": found something there");
        source = parent.resolve("gone");
        refused("gone: found no such directory");
        assertThat(parent.toFile().list()).as("nothing is left").hasSize(2);
    }

    private void refused(String... parts) {
        assertThatThrownBy(this::pack)
                .hasMessageContainingAll(parts)
                .message()
                .doesNotContain(".berth-pack")
                .hasLineCount(1);
    }

    private void pack() throws Exception {
        pack(Target.CPU);
    }

    private void pack(Target target) throws Exception {
        var command = new PackCommand();
        new CommandLine(command.spec())
                .parseArgs(source.toString(), "--output", output.toString(), "--target", target.toString());
        command.pack(Map.of(), Path.of("").toAbsolutePath(), said::add);
    }

    private void config(String architecture, String more) throws IOException {
        Files.writeString(
                source.resolve("config.json"), "{\"architectures\": [\"%s\"], %s}".formatted(architecture, more));
    }

    /// `numbers` are the ids.
    private static OnnxModel ids(OnnxModel model) {
        return model.input("input_ids", OnnxModel.INT64, "rows", "tokens")
                .node("Cast", List.of("input_ids"), List.of("numbers"), TO_FLOAT);
    }

    private static OnnxModel classifier() {
        return ids(new OnnxModel())
                .node("Identity", List.of("numbers"), List.of("logits"))
                .output("logits", OnnxModel.FLOAT, "rows", "tokens");
    }

    /// The least and the greatest id of a row, in one order or the other.
    private static OnnxModel leastAndMost(String first, String second) {
        var rows = OnnxModel.attribute("axes", List.of(1L));
        return ids(new OnnxModel())
                .node("ReduceMin", List.of("numbers"), List.of("least"), rows)
                .node("ReduceMax", List.of("numbers"), List.of("most"), rows)
                .node("Concat", List.of(first, second), List.of("logits"), OnnxModel.attribute("axis", 1))
                .output("logits", OnnxModel.FLOAT, "rows", 2);
    }

    static List<String> answers(Path directory, String... bodies) throws Exception {
        var answers = new ArrayList<String>();
        try (var server = TestServer.artifact(directory).startWithoutWaiting()) {
            server.server().awaitReady();
            for (var body : bodies) {
                var response = server.invoke(body, "Content-Type", "application/json");
                assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
                answers.add(response.body());
            }
        }
        return answers;
    }
}
