package dev.berth.transform;

import com.fasterxml.jackson.core.JsonPointer;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.MissingNode;
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
    BEDROCK("recordId", "modelInput", "/modelOutput", "/error/errorCode"),
    /// OpenAI's batches: `custom_id` and `body`, then `response` with a status.
    OPENAI("custom_id", "body", "/response/body", "/response/status_code");

    private static final int OK = 200;

    private final String id;
    private final String input;
    private final JsonPointer answer;
    private final JsonPointer status;

    /// @param answer where it is in a line of an output
    /// @param status likewise; that of an answer may be left out
    Envelope(String id, String input, String answer, String status) {
        this.id = id;
        this.input = input;
        this.answer = JsonPointer.compile(answer);
        this.status = JsonPointer.compile(status);
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
    String answered(String id, String body, String answer, String lineId) {
        return this == BEDROCK
                ? "{\"recordId\":%s,\"modelInput\":%s,\"modelOutput\":%s}".formatted(id, body, answer)
                : response(id, OK, answer, lineId);
    }

    /// The line of what went wrong.
    String failed(String id, Optional<String> body, int code, String message, String lineId) {
        var text = JsonText.write(message);
        return this == BEDROCK
                ? "{\"recordId\":%s,%s\"error\":{\"errorCode\":%d,\"errorMessage\":%s}}"
                        .formatted(id, body.map("\"modelInput\":%s,"::formatted).orElse(""), code, text)
                : response(
                        id,
                        code,
                        "{\"error\":{\"message\":%s,\"type\":\"%s\"}}"
                                .formatted(text, code < 500 ? "invalid_request_error" : "server_error"),
                        lineId);
    }

    private static String response(String id, int status, String body, String lineId) {
        return ("{\"custom_id\":%s,\"id\":\"batch_req_%s\",\"response\":{\"status_code\":%d,\"request_id\":\"%2$s\","
                        + "\"body\":%4$s},\"error\":null}")
                .formatted(id, lineId, status, body);
    }

    /// Reads the lines of an output.
    static BufferedReader lines(InputStream output) {
        return new BufferedReader(new InputStreamReader(output, StandardCharsets.UTF_8));
    }

    /// The answer in a line of an output; missing where it is an error.
    JsonNode answer(JsonNode line) {
        return errorCode(line) == 0 ? line.at(answer) : MissingNode.getInstance();
    }

    /// The status of an error in a line of an output; 0 for an answer.
    int errorCode(JsonNode line) {
        int found = line.at(status).asInt();
        return found == OK ? 0 : found;
    }

    /// Whether a line of an output is that of a record, as far as it says so.
    ///
    /// @param record its members, as they stand there; so has the line
    boolean isOf(Map<String, String> record, Map<String, String> line) {
        var own = record.getOrDefault(id, "null");
        return (own.equals("null") || own.equals(line.get(id)))
                && (!line.containsKey(input) || line.get(input).equals(record.get(input)));
    }
}
