package dev.berth.openai;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Optional;

/// The fields of OpenAI's API, and whom a request is for.
final class Api {

    static final String CHAT = "/v1/chat/completions";
    static final String COMPLETIONS = "/v1/completions";
    static final String EMBEDDINGS = "/v1/embeddings";

    private static final List<String> PATHS = List.of(CHAT, COMPLETIONS, EMBEDDINGS);

    /// Fields of the API with the values that change nothing in an answer; an empty list: any.
    private static final JsonNode IDLE = Json.parse("""
          {"audio": [null], "best_of": [1], "echo": [false], "frequency_penalty": [0],
           "function_call": ["none", "auto"], "functions": [[]], "logit_bias": [{}],
           "logprobs": [false], "metadata": [], "modalities": [["text"]], "moderation": [null],
           "n": [1], "parallel_tool_calls": [], "prediction": [], "presence_penalty": [0],
           "prompt_cache_key": [], "prompt_cache_options": [], "prompt_cache_retention": [],
           "reasoning_effort": ["none"], "response_format": [{"type": "text"}],
           "safety_identifier": [], "service_tier": ["auto", "default"], "store": [false],
           "suffix": [""], "tool_choice": ["none", "auto"], "tools": [[]], "top_logprobs": [0],
           "user": [], "verbosity": ["medium"], "web_search_options": [null]}
          """, "fields");

    private Api() {}

    /// The fields of a body; nothing where the request is for another path of the API. On a path that
    /// is none of them, the body's main field says what is asked.
    ///
    /// @param main the field that no other path has
    /// @param read the fields besides that are read
    /// @param does fields that the handler reads itself
    /// @throws BadInputException naming a field that is unknown, or that the model can't do
    static Optional<Fields> fields(
            InvocationRequest request,
            JsonNode body,
            String path,
            String main,
            List<String> read,
            Collection<String> does) {
        boolean asked =
                PATHS.contains(request.path()) ? path.equals(request.path()) : body.has(main) && !body.has("inputs");
        if (!asked) {
            return Optional.empty();
        }
        var known = new LinkedHashSet<>(List.of("model", main));
        known.addAll(read);
        known.addAll(does);
        if (body.path("tool_choice").asText().equals("none")) {
            known.add("tools");
        }
        return Optional.of(Fields.of(body, "body", known, IDLE));
    }
}
