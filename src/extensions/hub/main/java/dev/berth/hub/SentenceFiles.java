package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.content.Json;
import dev.berth.json.JsonText;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;

/// What the files of sentence-transformers say of a model, as version 6.2 reads them. Each of their
/// keys is applied, refused where a vector would be another one without it, or named in a warning.
final class SentenceFiles {

    static final String MODULES = "modules.json";
    private static final String SETTINGS = "config_sentence_transformers.json";
    private static final String SPARSE = "SpladePooling";

    private static final JsonNode SPARSE_PLAIN =
            Json.parse("{\"pooling_strategy\": \"max\", \"activation_function\": \"relu\"}", "keys");

    /// The settings of a Transformer, the first that is there.
    private static final List<String> TRANSFORMERS = Stream.of(
                    "bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet")
            .map("sentence_%s_config.json"::formatted)
            .toList();

    /// The keys of each kind of file: an empty list where one is applied or has no meaning for `encode`,
    /// else the value that needs nothing. Another value is refused.
    private static final JsonNode KEYS = Json.parse("""
          {"module": {"idx": [], "name": [], "path": [], "type": []},
           "settings": {"__version__": [], "default_prompt_name": [], "prompts": [], "similarity_fn_name": [],
                        "truncate_dim": [], "model_type": ["SentenceTransformer"]},
           "Transformer": {"do_lower_case": [], "document_length": [], "max_seq_length": [], "query_expansion": [],
                           "query_length": [], "unpad_inputs": [], "module_output_name": ["token_embeddings"],
                           "transformer_task": ["feature-extraction"], "processing_kwargs": [{}],
                           "modality_config":
                               [{"text": {"method": "forward", "method_output_name": "last_hidden_state"}}]},
           "Pooling": {"embedding_dimension": [], "include_prompt": [], "pooling_mode": [],
                       "word_embedding_dimension": [], "pooling_mode_cls_token": [], "pooling_mode_max_tokens": [],
                       "pooling_mode_mean_tokens": [], "pooling_mode_mean_sqrt_len_tokens": [],
                       "pooling_mode_weightedmean_tokens": [], "pooling_mode_lasttoken": []},
           "Normalize": {"module_input_name": ["sentence_embedding"], "module_output_name": ["sentence_embedding"]}}
          """, "keys");

    /// In the order in which vectors stand side by side where the old form has several.
    private static final List<String> MODES =
            List.of("cls", "max", "mean", "mean_sqrt_len_tokens", "weightedmean", "lasttoken");

    private final HubModel model;
    private final List<String> warnings;

    /// @param warnings gets what is passed over
    SentenceFiles(HubModel model, List<String> warnings) {
        this.model = model;
        this.warnings = warnings;
    }

    /// Whether a model makes sparse vectors.
    static boolean areSparse(HubModel model) {
        return model.json(MODULES).findValuesAsText("type").stream().anyMatch(type -> type.endsWith(SPARSE));
    }

    /// @throws ModelArtifactException when logits are to be pooled in another way than the task does
    static void checkSparse(HubModel model) {
        for (var module : model.json(MODULES)) {
            var type = module.path("type").asText().replaceFirst(".*\\.", "");
            if (!List.of("Transformer", "MLMTransformer", SPARSE).contains(type)) {
                throw model.refused("modules.json: found %s, expected MLMTransformer or SpladePooling; use trace.py"
                        .formatted(type));
            }
            var file = module.path("path").asText() + "/config.json";
            var config = type.equals(SPARSE) ? model.json(file) : MissingNode.getInstance();
            SPARSE_PLAIN.properties().forEach(plain -> {
                var found = config.path(plain.getKey());
                if (!found.isMissingNode() && !found.equals(plain.getValue())) {
                    throw model.refused("%s: %s: found %s, expected %s; use trace.py"
                            .formatted(file, plain.getKey(), found, plain.getValue()));
                }
            });
        }
    }

    /// The settings of the Transformer.
    static JsonNode transformer(HubModel model) {
        return model.json(transformerName(model));
    }

    private static String transformerName(HubModel model) {
        return TRANSFORMERS.stream().filter(model::has).findFirst().orElse(TRANSFORMERS.getFirst());
    }

    /// Writes what `model.json` says of them.
    ///
    /// @param isPooled whether the file of the model makes the vectors of texts
    /// @return the steps from the vectors of tokens to that of their text
    /// @throws ModelArtifactException when that can't be served
    List<String> describe(ObjectNode json, boolean isPooled) {
        var transformer = transformer(model);
        check(transformerName(model), transformer, "Transformer");
        if (transformer.path("do_lower_case").asBoolean()) {
            json.put("lowerCase", true);
        }
        var settings = model.json(SETTINGS);
        check(SETTINGS, settings, "settings");
        var prompt = prompt(settings);
        var steps = steps(isPooled, !prompt.isEmpty());
        if (!isPooled) {
            json.set("pooling", JsonText.tree(steps));
        }
        if (!prompt.isEmpty()) {
            json.withObject("parameters").put("prompt", prompt);
        }
        if (settings.hasNonNull("truncate_dim")) {
            if (settings.path("truncate_dim").asInt() < 1) {
                throw refused(SETTINGS, settings, "truncate_dim", "a whole number of at least 1");
            }
            json.withObject("parameters")
                    .put("truncate_dim", settings.path("truncate_dim").asInt());
        }
        return steps;
    }

    private String prompt(JsonNode settings) {
        var name = settings.path("default_prompt_name").asText("");
        var prompts = settings.path("prompts");
        if (!name.isEmpty() && !prompts.path(name).isTextual()) {
            throw refused(SETTINGS, settings, "default_prompt_name", "one of " + JsonText.write(names(prompts)));
        }
        return name.isEmpty() ? "" : prompts.path(name).textValue();
    }

    private List<String> steps(boolean isPooled, boolean hasPrompt) {
        var steps = new ArrayList<String>();
        if (!model.has(MODULES)) {
            if (!isPooled) {
                warnings.add(
                        "modules.json: not found, so the mean of the tokens is taken; copy it from the model that the ONNX file was made of, with the directories that it names");
            }
            return List.of("mean");
        }
        boolean normalises = false;
        for (var module : model.json(MODULES)) {
            check(MODULES, module, "module");
            var type = module.path("type").asText().replaceFirst(".*\\.", "");
            var path = module.path("path").asText();
            var file = path.isEmpty() ? "config.json" : path + "/config.json";
            switch (type) {
                case "Transformer" -> {
                    if (!path.isEmpty()) {
                        throw refused(MODULES, module, "path", "a Transformer in the directory itself");
                    }
                }
                case "Pooling" -> {
                    var config = model.json(file);
                    if (config.isMissingNode() && !isPooled) {
                        throw model.refused(
                                "%s: not found, and modules.json names it; copy it from the model that the ONNX file was made of"
                                        .formatted(file));
                    }
                    check(file, config, type);
                    checkPrompt(file, config, hasPrompt);
                    if (!isPooled) {
                        steps.addAll(modes(file, config));
                    }
                }
                case "Normalize" -> {
                    check(file, model.json(file), type);
                    normalises = true;
                }
                default -> {
                    if (!isPooled) {
                        throw model.refused(
                                "modules.json: found %s, expected Transformer, Pooling or Normalize; export the model with its output sentence_embedding, or use trace.py"
                                        .formatted(type));
                    }
                }
            }
        }
        if (steps.isEmpty() && !isPooled) {
            throw model.refused("modules.json: found no Pooling, expected one");
        }
        if (normalises) {
            steps.add("normalize");
        }
        return List.copyOf(steps);
    }

    /// A prompt's tokens are pooled as all others.
    private void checkPrompt(String file, JsonNode config, boolean hasPrompt) {
        if (!config.path("include_prompt").asBoolean(true)) {
            if (hasPrompt) {
                throw refused(file, config, "include_prompt", "true, or no default_prompt_name");
            }
            warnings.add(file + ": include_prompt: found false, but the tokens of a request's prompt are pooled");
        }
    }

    private List<String> modes(String file, JsonNode config) {
        var named = config.path("pooling_mode");
        var modes = named.isMissingNode()
                ? MODES.stream()
                        .filter(mode -> config.path(oldName(mode)).asBoolean())
                        .toList()
                : (named.isArray() ? named.valueStream() : Stream.of(named))
                        .map(JsonNode::asText)
                        .toList();
        if (!MODES.containsAll(modes)) {
            throw refused(file, config, "pooling_mode", "some of " + String.join(", ", MODES));
        }
        return modes.isEmpty() ? List.of("mean") : modes;
    }

    private static String oldName(String mode) {
        return "pooling_mode_"
                + switch (mode) {
                    case "cls" -> "cls_token";
                    case "max", "mean", "weightedmean" -> mode + "_tokens";
                    default -> mode;
                };
    }

    private void check(String file, JsonNode json, String kind) {
        json.properties().forEach(field -> {
            var value = field.getValue();
            var name = field.getKey();
            var known = KEYS.path(kind).path(name);
            boolean saysNothing = value.isNull() || (value.isContainerNode() && value.isEmpty());
            if (saysNothing || (known.isArray() && known.isEmpty())) {
                return;
            }
            if (known.isMissingNode()) {
                warnings.add("%s: %s: found %s, which is passed over".formatted(file, name, JsonText.write(value)));
            } else if (!known.path(0).equals(value)) {
                throw refused(file, json, name, JsonText.write(known.path(0)));
            }
        });
    }

    private ModelArtifactException refused(String file, JsonNode json, String key, String expected) {
        return model.refused("%s: %s: found %s, expected %s".formatted(file, key, json.path(key), expected));
    }

    private static List<String> names(JsonNode json) {
        return json.properties().stream().map(Map.Entry::getKey).toList();
    }
}
