package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.databind.util.RawValue;
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
        void answer(ObjectNode line, String body, String answer, String lineId) {
            line.putRawValue(input(), new RawValue(body));
            line.putRawValue("modelOutput", new RawValue(answer));
        }

        @Override
        void fail(ObjectNode line, Optional<String> body, int code, String message, String lineId) {
            body.ifPresent(given -> line.putRawValue(input(), new RawValue(given)));
            line.putObject("error").put("errorCode", code).put("errorMessage", message);
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
        void answer(ObjectNode line, String body, String answer, String lineId) {
            respond(line, OK, answer, lineId);
        }

        @Override
        void fail(ObjectNode line, Optional<String> body, int code, String message, String lineId) {
            var error = line.objectNode();
            error.putObject("error")
                    .put("message", message)
                    .put("type", code < 500 ? "invalid_request_error" : "server_error");
            respond(line, code, error.toString(), lineId);
        }

        private void respond(ObjectNode line, int status, String body, String lineId) {
            line.put("id", "batch_req_" + lineId);
            line.putObject("response")
                    .put("status_code", status)
                    .put("request_id", lineId)
                    .putRawValue("body", new RawValue(body));
            line.putNull("error");
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

    /// Writes an answer behind the id.
    ///
    /// @param body of the record, as it stands there
    /// @param answer as the container has written it
    /// @param lineId of the line in its job
    abstract void answer(ObjectNode line, String body, String answer, String lineId);

    /// Writes what went wrong.
    abstract void fail(ObjectNode line, Optional<String> body, int code, String message, String lineId);

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
