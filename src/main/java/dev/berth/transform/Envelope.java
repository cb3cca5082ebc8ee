package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.util.Locale;
import java.util.Optional;

/// JSON Lines whose records have an id and a request's body, and whose answers have that id again,
/// as a service for batches takes them.
enum Envelope {
  /// `CreateModelInvocationJob`: `recordId` and `modelInput`, then `modelOutput` or `error`.
  BEDROCK("recordId", "modelInput") {
    @Override
    void answer(ObjectNode line, JsonNode body, JsonNode answer, String lineId) {
      line.set(input(), body);
      line.set("modelOutput", answer);
    }

    @Override
    void fail(ObjectNode line, Optional<JsonNode> body, int code, String message, String lineId) {
      body.ifPresent(given -> line.set(input(), given));
      line.putObject("error").put("errorCode", code).put("errorMessage", message);
    }

    @Override
    JsonNode answer(JsonNode line) {
      return line.path("modelOutput");
    }
  },
  /// OpenAI's batches: `custom_id` and `body`, then `response` with a status.
  OPENAI("custom_id", "body") {
    @Override
    void answer(ObjectNode line, JsonNode body, JsonNode answer, String lineId) {
      respond(line, OK, answer, lineId);
    }

    @Override
    void fail(ObjectNode line, Optional<JsonNode> body, int code, String message, String lineId) {
      var error = line.objectNode();
      error
          .putObject("error")
          .put("message", message)
          .put("type", code < 500 ? "invalid_request_error" : "server_error");
      respond(line, code, error, lineId);
    }

    private void respond(ObjectNode line, int status, JsonNode body, String lineId) {
      line.put("id", "batch_req_" + lineId);
      line.putObject("response")
          .put("status_code", status)
          .put("request_id", lineId)
          .set("body", body);
      line.putNull("error");
    }

    @Override
    JsonNode answer(JsonNode line) {
      return line.path("response").path("status_code").asInt() == OK
          ? line.path("response").path("body")
          : line.path("none");
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
  /// @param lineId of the line in its job
  abstract void answer(ObjectNode line, JsonNode body, JsonNode answer, String lineId);

  /// Writes what went wrong.
  abstract void fail(
      ObjectNode line, Optional<JsonNode> body, int code, String message, String lineId);

  /// The answer in a line of an output; missing where it is an error.
  abstract JsonNode answer(JsonNode line);
}
