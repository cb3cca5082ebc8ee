package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/// The parameters of the protocol and of its extensions. What is not done is
/// refused by its name: a client would take the answer for another one.
final class InferParameters {

    static final String BINARY_DATA = "binary_data";
    static final String BINARY_DATA_OUTPUT = "binary_data_output";
    static final String BINARY_DATA_SIZE = "binary_data_size";
    static final String CONTENT_TYPE = "content_type";

    static final List<String> OF_INPUTS = List.of(BINARY_DATA_SIZE, CONTENT_TYPE);
    static final List<String> OF_OUTPUTS = List.of(BINARY_DATA);

    /// MLServer's names for what becomes of tensors anyhow.
    private static final List<String> AS_IT_IS = List.of("np", "pd", "str");

    private static final String TIMEOUT = "timeout";

    /// Triton's: an answer in a stream always says that it is the last one.
    private static final String FINAL_WANTED = "triton_enable_empty_final_response";

    private static final List<String> NOT_DONE = List.of("priority", "sequence_id", "sequence_start", "sequence_end");

    /// What they are where nothing is asked for.
    private static final Set<String> NOTHING = Set.of("0", "", "false");

    private InferParameters() {}

    /// Reads them, but those that are null.
    ///
    /// @param object that has them in its `parameters`
    /// @param place what messages call them
    static ObjectNode of(JsonNode object, String place) {
        var found = object.path("parameters");
        if (!found.isObject() && !found.isMissingNode() && !found.isNull()) {
            throw Excerpt.bad(place, found, "an object");
        }
        var parameters = JsonNodeFactory.instance.objectNode();
        found.propertyStream()
                .filter(parameter -> !parameter.getValue().isNull())
                .forEach(parameter -> parameters.set(parameter.getKey(), parameter.getValue()));
        return parameters;
    }

    /// The same where there may be no others.
    static ObjectNode known(JsonNode object, List<String> known, String place) {
        return requireKnown(of(object, place), known, place);
    }

    static ObjectNode requireKnown(ObjectNode found, List<String> known, String place) {
        found.forEachEntry((name, value) -> {
            if (!known.contains(name)) {
                throw new BadInputException("%s: found the unknown parameter %s, expected %s"
                        .formatted(
                                place,
                                Excerpt.quoted(name),
                                known.isEmpty() ? "none" : "one of " + String.join(", ", known)));
            }
            checkContentType(name, value, place);
        });
        return found;
    }

    private static void checkContentType(String name, JsonNode value, String place) {
        if (name.equals(CONTENT_TYPE)
                && !AS_IT_IS.contains(value.asText())
                && MediaType.parse(value.asText()).isEmpty()) {
            throw new BadInputException("%s.%s: found %s, expected a media type such as image/png, or one of %s"
                    .formatted(place, name, Excerpt.quoted(value.asText()), AS_IT_IS));
        }
    }

    /// Those of a request that are the model's own.
    static ObjectNode ofTheModel(ObjectNode all) {
        all.forEachEntry((name, value) -> checkContentType(name, value, "parameters"));
        for (var name : NOT_DONE) {
            if (!NOTHING.contains(all.path(name).asText())) {
                throw new BadInputException(
                        "parameters.%s: found %s, expected none: requests have no sequence and no priority here"
                                .formatted(name, Excerpt.quoted(all.path(name).asText())));
            }
        }
        return all.deepCopy().remove(NOT_DONE).remove(List.of(BINARY_DATA_OUTPUT, CONTENT_TYPE, FINAL_WANTED, TIMEOUT));
    }

    /// The request with the time that its parameters leave it, from now on, in microseconds.
    static InvocationRequest inTime(InvocationRequest asked, ObjectNode parameters) {
        var timeout = parameters.path(TIMEOUT);
        if (parameters.has(TIMEOUT) && (!timeout.isNumber() || timeout.longValue() < 0)) {
            throw new BadInputException("parameters.%s: found %s, expected microseconds"
                    .formatted(TIMEOUT, Excerpt.quoted(timeout.asText())));
        }
        long nanos = TimeUnit.MICROSECONDS.toNanos(timeout.longValue());
        return nanos == 0 || nanos >= asked.remaining().toNanos()
                ? asked
                : asked.withDeadline(System.nanoTime() + nanos);
    }
}
