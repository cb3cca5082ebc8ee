package dev.berth.page;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.hooks.MediaType;

/// JSON Schemas of payloads.
final class Schemas {

    private Schemas() {}

    static ObjectNode any() {
        return JsonNodeFactory.instance.objectNode();
    }

    static ObjectNode text() {
        return any().put("type", "string");
    }

    /// Of a content type without an example.
    static ObjectNode of(MediaType type) {
        if (type.equals(MediaType.ANY) || type.equals(MediaType.JSON)) {
            return any();
        }
        return type.type().equals("text") || type.subtype().contains("json") ? text() : text().put("format", "binary");
    }

    /// Of payloads like this one: objects have its fields and maybe more, numbers may be any.
    static ObjectNode like(JsonNode example) {
        return like(example, "number");
    }

    /// @param number the type of numbers
    static ObjectNode like(JsonNode example, String number) {
        var schema = any();
        return switch (example.getNodeType()) {
            case OBJECT -> {
                schema.put("type", "object");
                example.properties().forEach(field -> {
                    schema.withArrayProperty("required").add(field.getKey());
                    schema.withObjectProperty("properties").set(field.getKey(), like(field.getValue(), number));
                });
                yield schema;
            }
            case ARRAY -> {
                var items = example.valueStream()
                        .map(item -> like(item, number))
                        .distinct()
                        .toList();
                schema.put("type", "array").set("items", items.size() == 1 ? items.getFirst() : any());
                yield schema;
            }
            case STRING -> schema.put("type", "string");
            case NUMBER -> schema.put("type", number);
            case BOOLEAN -> schema.put("type", "boolean");
            case NULL, MISSING, BINARY, POJO -> schema;
        };
    }
}
