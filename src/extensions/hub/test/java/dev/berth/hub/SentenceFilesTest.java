package dev.berth.hub;

import static dev.berth.hub.PackCommandTest.answers;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.json.JsonText;
import dev.berth.testing.OnnxModel;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/// The files of sentence-transformers, on a model whose vector of a token is its id. Answers are
/// those of SentenceTransformer 6.2.
class SentenceFilesTest {

    private static final String TRANSFORMER = "sentence_bert_config.json";
    private static final String SETTINGS = "config_sentence_transformers.json";
    private static final String POOLING = "1_Pooling/config.json";

    @TempDir
    private Path directory;

    @BeforeEach
    void makeModel() throws IOException {
        write("config.json", "{'architectures': ['BertModel'], 'max_position_embeddings': 32}");
        write("tokenizer_config.json", "{'pad_token': '[PAD]'}");
        // It knows words in lower case only, and does not make them so.
        write("tokenizer.json", """
        {'version': '1.0', 'truncation': null, 'padding': null, 'added_tokens': [
          {'id': 0, 'content': '[PAD]', 'single_word': false, 'lstrip': false, 'rstrip': false, 'normalized': false, 'special': true}],
         'normalizer': {'type': 'NFC'}, 'pre_tokenizer': {'type': 'Whitespace'}, 'post_processor': null, 'decoder': null,
         'model': {'type': 'WordLevel', 'unk_token': '[UNK]',
                   'vocab': {'[PAD]': 0, '[UNK]': 1, 'red': 4, 'lamp': 8, 'query': 12, ':': 14, 'οδοσ': 18}}}""");
        modules("Pooling", "1_Pooling");
        write(POOLING, "{'pooling_mode': 'mean'}");
        new OnnxModel()
                .input("input_ids", OnnxModel.INT64, "rows", "tokens")
                .node("Cast", List.of("input_ids"), List.of("numbers"), OnnxModel.attribute("to", OnnxModel.FLOAT))
                .initializer(OnnxModel.tensor("axes", OnnxModel.INT64, 1).bytes(9, new byte[] {2, 0, 0, 0, 0, 0, 0, 0}))
                .node("Unsqueeze", List.of("numbers", "axes"), List.of("last_hidden_state"))
                .output("last_hidden_state", OnnxModel.FLOAT, "rows", "tokens", 1)
                .write(directory.resolve("model.onnx"));
    }

    /// The Transformer, and other modules by their types and directories.
    private void modules(String... others) throws IOException {
        var modules = new StringBuilder("[{'type': 'sentence_transformers.models.Transformer', 'path': ''}");
        for (int i = 0; i < others.length; i += 2) {
            modules.append(
                    ", {'type': 'sentence_transformers.models.%s', 'path': '%s'}".formatted(others[i], others[i + 1]));
        }
        write("modules.json", modules + "]");
    }

    private void write(String name, String json) throws IOException {
        var file = directory.resolve(name);
        Files.createDirectories(file.getParent());
        Files.writeString(file, json.replace('\'', '"'));
    }

    private HubModel model() {
        var model = new HubModel(directory, Optional.empty());
        HubTask.of(model);
        return model;
    }

    @Test
    void textsAreInLowerCaseBeforeTheTokenizer() throws Exception {
        assertThat(answers(directory, "\"Red LAMP\"")).containsExactly("[1.0]");
        write(TRANSFORMER, "{'max_seq_length': 3, 'do_lower_case': true}");
        // Character by character, so that a last sigma is one as others.
        assertThat(answers(directory, "\"Red LAMP\"", "\"ΟΔΟΣ\"", "\"[PAD] RED\"", "\"RED red LAMP red red\""))
                .containsExactly("[6.0]", "[18.0]", "[2.0]", "[5.3333335]");
    }

    @Test
    void theDefaultPromptStandsInFrontOfEachText() throws Exception {
        write(SETTINGS, "{'prompts': {'query': 'query : ', 'passage': 'lamp '}, 'default_prompt_name': 'query'}");
        assertThat(answers(
                        directory,
                        "\"red\"",
                        "{\"inputs\": [\"red\"], \"parameters\": {\"prompt\": \"lamp \"}}",
                        "{\"inputs\": \"red\", \"parameters\": {\"prompt\": \"\"}}"))
                .containsExactly("[10.0]", "[[6.0]]", "[4.0]");
        assertThatThrownBy(() -> answers(directory, "{\"inputs\": \"red\", \"parameters\": {\"prompt\": 1}}"))
                .hasMessageContaining("parameters.prompt: found 1, expected a text");
    }

    @Test
    void vectorsAreCutToTheirDimension() throws Exception {
        write(POOLING, "{'pooling_mode': ['max', 'mean', 'lasttoken']}");
        write(SETTINGS, "{'truncate_dim': 2}");
        assertThat(answers(directory, "\"lamp red\"")).containsExactly("[8.0,6.0]");
    }

    @Test
    void modesStandInTheOrderOfSentenceTransformers() throws Exception {
        write(POOLING, """
        {'pooling_mode_lasttoken': true, 'pooling_mode_weightedmean_tokens': true, 'pooling_mode_mean_sqrt_len_tokens': true,
         'pooling_mode_mean_tokens': true, 'pooling_mode_max_tokens': true, 'pooling_mode_cls_token': true}""");
        assertThat(model().description.path("pooling"))
                .hasToString("[\"cls\",\"max\",\"mean\",\"mean_sqrt_len_tokens\",\"weightedmean\",\"lasttoken\"]");
        write(POOLING, "{'pooling_mode_mean_tokens': true, 'pooling_mode_max_tokens': true}");
        assertThat(answers(directory, "\"lamp red\"")).containsExactly("[8.0,6.0]");
        // The new form has an order of its own, and no mode is the mean.
        write(POOLING, "{'pooling_mode': ['mean', 'cls']}");
        assertThat(model().description.path("pooling")).hasToString("[\"mean\",\"cls\"]");
        write(POOLING, "{'pooling_mode_mean_tokens': false}");
        modules("Pooling", "1_Pooling", "Normalize", "2_Normalize");
        assertThat(model().description.path("pooling")).hasToString("[\"mean\",\"normalize\"]");
        assertThat(model().warnings).isEmpty();
    }

    @Test
    void aModelWithoutItsFilesIsTheMeanWithOneWarning() throws Exception {
        Files.delete(directory.resolve("modules.json"));
        assertThat(model().warnings)
                .singleElement()
                .asString()
                .startsWith("modules.json: not found, so the mean of the tokens is taken; copy it from");
        assertThat(answers(directory, "\"lamp red\"")).containsExactly("[6.0]");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        modules.json|[{'type': 'x.Transformer', 'path': '', 'kwargs': ['task']}, {'type': 'x.Pooling', 'path': '1_Pooling'}]|modules.json: kwargs: found ["task"], which is passed over
        sentence_bert_config.json|{'model_args': {'add_pooling_layer': false}}|sentence_bert_config.json: model_args: found {"add_pooling_layer":false}, which is passed over
        sentence_xlnet_config.json|{'strange': 1}|sentence_xlnet_config.json: strange: found 1, which is passed over
        config_sentence_transformers.json|{'strange': 'a'}|config_sentence_transformers.json: strange: found "a"
        1_Pooling/config.json|{'strange': 'a'}|1_Pooling/config.json: strange: found "a", which is passed over
        1_Pooling/config.json|{'include_prompt': false}|1_Pooling/config.json: include_prompt: found false, but the tokens
        """)
    void otherKeysAreNamed(String file, String json, String warning) throws Exception {
        write(file, json);
        assertThat(model().warnings).singleElement().asString().startsWith(warning);
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        sentence_bert_config.json|{'transformer_task': 'fill-mask'}|transformer_task: found "fill-mask", expected "feature-extraction"
        sentence_bert_config.json|{'module_output_name': 'x'}|module_output_name: found "x", expected "token_embeddings"
        sentence_bert_config.json|{'modality_config': {'message': {}}}|modality_config: found {"message":{}}, expected {"text":
        sentence_bert_config.json|{'processing_kwargs': {'text': {}}}|processing_kwargs: found {"text":{}}, expected {}
        config_sentence_transformers.json|{'model_type': 'SparseEncoder'}|model_type: found "SparseEncoder", expected "SentenceTransformer"
        config_sentence_transformers.json|{'prompts': {'query': 'query : '}, 'default_prompt_name': 'passage'}|config_sentence_transformers.json: default_prompt_name: found "passage", expected one of ["query"]
        config_sentence_transformers.json|{'truncate_dim': 0}|truncate_dim: found 0, expected a whole number of at least 1
        1_Pooling/config.json|{'pooling_mode': 'none'}|1_Pooling/config.json: pooling_mode: found "none", expected some of cls, max
        modules.json|[{'type': 'x.Transformer', 'path': '0_BERT'}]|modules.json: path: found "0_BERT", expected a Transformer in the directory
        modules.json|[{'type': 'x.Transformer', 'path': ''}]|modules.json: found no Pooling, expected one
        modules.json|[{'type': 'x.Dense', 'path': ''}]|modules.json: found Dense, expected Transformer, Pooling or Normalize
        modules.json|[{'type': 'x.Pooling', 'path': '2_Pooling'}]|2_Pooling/config.json: not found, and modules.json names it; copy it
        """)
    void valuesThatWouldGiveOtherVectorsAreRefused(String file, String json, String problem) throws Exception {
        write(file, json);
        assertThatThrownBy(this::model).hasMessageContaining(problem);
    }

    @Test
    void aPromptThatIsNotPooledIsRefused() throws Exception {
        write(POOLING, "{'include_prompt': false, 'pooling_mode': 'mean'}");
        write(SETTINGS, "{'prompts': {'query': 'query : '}, 'default_prompt_name': 'query'}");
        assertThatThrownBy(this::model)
                .hasMessageContaining(
                        "1_Pooling/config.json: include_prompt: found false, expected true, or no default_prompt_name");
    }

    /// What `save_pretrained` of SentenceTransformer 6.2 writes.
    @Test
    void aModelThatSaysNothingSpecialHasNoWarnings() throws Exception {
        modules("Pooling", "1_Pooling", "Normalize", "2_Normalize");
        write(TRANSFORMER, """
        {'transformer_task': 'feature-extraction', 'module_output_name': 'token_embeddings',
         'modality_config': {'text': {'method_output_name': 'last_hidden_state', 'method': 'forward'}}}""");
        write(SETTINGS, """
        {'__version__': {'pytorch': '2.13.0'}, 'default_prompt_name': null, 'model_type': 'SentenceTransformer',
         'prompts': {'document': '', 'query': ''}, 'similarity_fn_name': 'cosine'}""");
        write(POOLING, "{'embedding_dimension': 1, 'pooling_mode': 'cls', 'include_prompt': true}");
        write(
                "2_Normalize/config.json",
                "{'module_input_name': 'sentence_embedding', 'module_output_name': 'sentence_embedding'}");
        assertThat(model().warnings).isEmpty();
        assertThat(JsonText.write(model().description.path("pooling"))).isEqualTo("[\"cls\",\"normalize\"]");
        write("2_Normalize/config.json", "{'module_input_name': 'token_embeddings'}");
        assertThatThrownBy(this::model)
                .hasMessageContaining("2_Normalize/config.json: module_input_name: found \"token");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        'n_positions': 8192|{'model_max_length': 8192}|{'max_seq_length': 8192}|8192
        'n_positions': 8192|{'model_max_length': 1000000000000000000000000000000}|{'max_seq_length': null}|8192
        'max_sequence_length': 700|{'model_max_length': 1e30}|{}|700
        'max_position_embeddings': 512|{'model_max_length': 100}|{'max_seq_length': 200}|100
        'max_position_embeddings': 512|{'model_max_length': 128}|{'max_seq_length': 64}|64
        'model_type': 'roberta', 'max_position_embeddings': 514, 'pad_token_id': 1|{}|{}|512
        'max_position_embeddings': -1|{}|{'max_seq_length': 600}|600
        """)
    void theLongestRowIsTheLeastThatAFileSays(String config, String tokenizer, String transformer, int longest)
            throws Exception {
        write("config.json", "{'architectures': ['BertModel'], %s}".formatted(config));
        write("tokenizer_config.json", tokenizer);
        write(TRANSFORMER, transformer);
        assertThat(model().description.path("maxSequenceLength").asInt()).isEqualTo(longest);
        assertThat(model().warnings).isEmpty();
    }

    @Test
    void whereNoFileSaysItTheLongestRowIsNamed() throws Exception {
        write("config.json", "{'architectures': ['BertModel']}");
        assertThat(model().description.path("maxSequenceLength").asInt()).isEqualTo(512);
        assertThat(model().warnings)
                .singleElement()
                .asString()
                .contains("found no max_position_embeddings", "so the longest row has 512 tokens");
        var tokenizer = Files.readString(directory.resolve("tokenizer.json"));
        var cut =
                "\"truncation\": {\"direction\": \"Right\", \"max_length\": 2, \"strategy\": \"LongestFirst\", \"stride\": 0}";
        write("tokenizer.json", tokenizer.replace("\"truncation\": null", cut));
        assertThat(model().description.path("maxSequenceLength").asInt()).isEqualTo(2);
        // Python passes over it where anything else says a length.
        write("config.json", "{'architectures': ['BertModel'], 'max_position_embeddings': 4}");
        assertThat(answers(directory, "\"red red red lamp lamp\"")).containsExactly("[5.0]");
        var whole = "{\"inputs\": \"red red red red red\", \"parameters\": {\"truncation\": false}}";
        assertThatThrownBy(() -> answers(directory, whole))
                .hasMessageContaining("found 5 tokens, expected at most the 4 that the model takes");
    }
}
