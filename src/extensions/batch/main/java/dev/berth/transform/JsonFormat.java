package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.hooks.BadInputException;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;

/// JSON whose numbers keep the text that they had: `1.0`, `1e5` and digits without end come out as
/// they went in. Names keep their order; texts are written without escapes where JSON needs none.
final class JsonFormat implements RecordFormat {

    private static final String INPUT = "SageMakerInput";
    private static final String OUTPUT = "SageMakerOutput";

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    @Override
    public JsonNode read(String text) {
        try {
            return JsonText.exact(text);
        } catch (NotJsonException e) {
            throw new BadInputException(e.getMessage(), e);
        }
    }

    /// An object gets the answer as one more member, in the place of one that has its name already;
    /// any other value becomes a member beside it.
    @Override
    public JsonNode join(JsonNode input, JsonNode answer) {
        var joined =
                input instanceof ObjectNode object ? object : NODES.objectNode().set(INPUT, input);
        return ((ObjectNode) joined).set(OUTPUT, answer);
    }

    @Override
    public JsonNode error(String message) {
        return NODES.objectNode().put("error", message);
    }

    @Override
    public boolean isError(JsonNode answer) {
        return answer.size() == 1 && answer.path("error").isTextual();
    }

    @Override
    public String write(JsonNode record) {
        return JsonText.write(record);
    }
}
