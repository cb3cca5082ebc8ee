package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;

/// The parameters of the protocol and of its extensions, plain Java by name. What is not done is
/// refused by its name: a client would take the answer for another one.
final class InferParameters {

    static final String BINARY_DATA = "binary_data";
    static final String BINARY_DATA_OUTPUT = "binary_data_output";
    static final String BINARY_DATA_SIZE = "binary_data_size";
    static final String CONTENT_TYPE = "content_type";

    static final List<String> OF_INPUTS = List.of(BINARY_DATA_SIZE, CONTENT_TYPE);
    static final List<String> OF_OUTPUTS = List.of(BINARY_DATA);

    /// MLServer's names for what becomes of tensors anyhow.
    private static final List<Object> AS_IT_IS = List.of("np", "pd", "str");

    private static final String TIMEOUT = "timeout";

    /// Triton's: an answer in a stream always says that it is the last one.
    private static final String FINAL_WANTED = "triton_enable_empty_final_response";

    private static final List<String> NOT_DONE = List.of("priority", "sequence_id", "sequence_start", "sequence_end");

    /// What they are where nothing is asked for.
    private static final Set<String> NOTHING = Set.of("0", "", "false");

    private InferParameters() {}

    /// Reads texts, numbers and booleans by name.
    ///
    /// @param object that has them in its `parameters`
    /// @param place what messages call them
    static Map<String, Object> of(JsonNode object, String place) {
        var found = object.path("parameters");
        if (!found.isObject() && !found.isMissingNode() && !found.isNull()) {
            throw Excerpt.bad(place, found, "an object");
        }
        var parameters = new LinkedHashMap<String, Object>();
        found.forEachEntry((name, value) -> {
            if (!value.isNull()) {
                parameters.put(
                        name,
                        switch (value.getNodeType()) {
                            case STRING -> value.textValue();
                            case NUMBER -> value.numberValue();
                            case BOOLEAN -> value.booleanValue();
                            // Hooks may have parameters of any form.
                            default -> value;
                        });
            }
        });
        return parameters;
    }

    /// The same where there may be no others.
    static Map<String, Object> known(JsonNode object, List<String> known, String place) {
        return known(of(object, place), known, place);
    }

    static Map<String, Object> known(Map<String, Object> found, List<String> known, String place) {
        found.forEach((name, value) -> {
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

    private static void checkContentType(String name, Object value, String place) {
        if (name.equals(CONTENT_TYPE)
                && !AS_IT_IS.contains(value)
                && MediaType.parse(value.toString()).isEmpty()) {
            throw new BadInputException("%s.%s: found %s, expected a media type such as image/png, or one of %s"
                    .formatted(place, name, Excerpt.quoted(value.toString()), AS_IT_IS));
        }
    }

    /// Those of a request that are the model's own.
    static Map<String, Object> ofTheModel(Map<String, Object> all) {
        all.forEach((name, value) -> checkContentType(name, value, "parameters"));
        var own = new LinkedHashMap<>(all);
        own.keySet().removeAll(List.of(BINARY_DATA_OUTPUT, CONTENT_TYPE, FINAL_WANTED, TIMEOUT));
        NOT_DONE.forEach(name -> {
            var value = own.remove(name);
            if (value != null && !NOTHING.contains(value.toString())) {
                throw new BadInputException(
                        "parameters.%s: found %s, expected none: requests have no sequence and no priority here"
                                .formatted(name, Excerpt.quoted(value.toString())));
            }
        });
        return own;
    }

    /// The request with the time that its parameters leave it, from now on, in microseconds.
    static InvocationRequest inTime(InvocationRequest asked, Map<String, Object> parameters) {
        var timeout = parameters.getOrDefault(TIMEOUT, 0);
        if (!(timeout instanceof Number microseconds) || microseconds.longValue() < 0) {
            throw new BadInputException("parameters.%s: found %s, expected microseconds"
                    .formatted(TIMEOUT, Excerpt.quoted(timeout.toString())));
        }
        long nanos = TimeUnit.MICROSECONDS.toNanos(microseconds.longValue());
        return nanos == 0 || nanos >= asked.remaining().toNanos()
                ? asked
                : asked.withDeadline(System.nanoTime() + nanos);
    }
}
