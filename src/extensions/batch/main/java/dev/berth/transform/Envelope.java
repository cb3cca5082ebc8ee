package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.json.JsonText;
import java.io.BufferedReader;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;

/// JSON Lines whose records have an id and a request's body, and whose answers have that id again,
/// as a service for batches takes them.
enum Envelope {
    /// `CreateModelInvocationJob`: `recordId` and `modelInput`, then `modelOutput` or `error`.
    BEDROCK("recordId", "modelInput") {
        @Override
        String answered(String id, String body, String answer, String lineId) {
            return "{\"recordId\":%s,\"modelInput\":%s,\"modelOutput\":%s}".formatted(id, body, answer);
        }

        @Override
        String failed(String id, Optional<String> body, int code, String message, String lineId) {
            var input = body.map("\"modelInput\":%s,"::formatted).orElse("");
            return "{\"recordId\":%s,%s\"error\":{\"errorCode\":%d,\"errorMessage\":%s}}"
                    .formatted(id, input, code, JsonText.write(message));
        }

        @Override
        JsonNode answer(JsonNode line) {
            return line.path("modelOutput");
        }

        @Override
        int errorCode(JsonNode line) {
            return line.path("error").path("errorCode").asInt();
        }
    },
    /// OpenAI's batches: `custom_id` and `body`, then `response` with a status.
    OPENAI("custom_id", "body") {
        @Override
        String answered(String id, String body, String answer, String lineId) {
            return line(id, OK, answer, lineId);
        }

        @Override
        String failed(String id, Optional<String> body, int code, String message, String lineId) {
            var error = "{\"error\":{\"message\":%s,\"type\":\"%s\"}}"
                    .formatted(JsonText.write(message), code < 500 ? "invalid_request_error" : "server_error");
            return line(id, code, error, lineId);
        }

        private static String line(String id, int status, String body, String lineId) {
            return ("{\"custom_id\":%s,\"id\":\"batch_req_%s\",\"response\":{\"status_code\":%d,\"request_id\":\"%2$s\","
                            + "\"body\":%4$s},\"error\":null}")
                    .formatted(id, lineId, status, body);
        }

        @Override
        JsonNode answer(JsonNode line) {
            return line.path("response").path("status_code").asInt() == OK
                    ? line.path("response").path("body")
                    : line.path("none");
        }

        @Override
        int errorCode(JsonNode line) {
            int status = line.path("response").path("status_code").asInt();
            return status == OK ? 0 : status;
        }
    };

    private static final int OK = 200;

    private final String id;
    private final String input;

    Envelope(String id, String input) {
        this.id = id;
        this.input = input;
    }

    /// As `--format` has it.
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT);
    }

    /// The name of a record's id.
    String id() {
        return id;
    }

    /// The name of what is sent of a record.
    String input() {
        return input;
    }

    /// The line of an answer, with what the record and the container have written as it stands there.
    ///
    /// @param id of the record, as JSON
    /// @param lineId of the line in its job
    abstract String answered(String id, String body, String answer, String lineId);

    /// The line of what went wrong.
    abstract String failed(String id, Optional<String> body, int code, String message, String lineId);

    /// Reads the lines of an output.
    static BufferedReader lines(InputStream output) {
        return new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8));
    }

    /// The answer in a line of an output; missing where it is an error.
    abstract JsonNode answer(JsonNode line);

    /// The status of an error in a line of an output; 0 for an answer.
    abstract int errorCode(JsonNode line);

    /// Whether a line of an output is that of a record, as far as it says so.
    ///
    /// @param record its members, as they stand there; so has the line
    boolean isOf(Map<String, String> record, Map<String, String> line) {
        var own = record.getOrDefault(id, "null");
        return (own.equals("null") || own.equals(line.get(id)))
                && (!line.containsKey(input) || line.get(input).equals(record.get(input)));
    }
}
