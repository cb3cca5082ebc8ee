package dev.berth.http;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.error.ErrorType;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.serving.ServedModel;
import dev.berth.serving.sessions.SessionStore;
import io.javalin.http.Context;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// How SageMaker's callers open, name and close sessions: a header, and a body of `{"requestType":
/// "NEW_SESSION"}` or `{"requestType": "CLOSE"}`.
///
/// AWS's guide names the header of an opened session `X-Amzn-SageMaker-Session-Id`, and its API
/// hands on `X-Amzn-SageMaker-New-Session-Id`. So both are sent.
public final class SessionProtocol {

    public static final String SESSION_ID = "X-Amzn-SageMaker-Session-Id";
    private static final String NEW_SESSION_ID = "X-Amzn-SageMaker-New-Session-Id";
    private static final String CLOSED_SESSION_ID = "X-Amzn-SageMaker-Closed-Session-Id";

    static final String NEW_SESSION = "NEW_SESSION";
    private static final String CLOSE = "CLOSE";
    private static final String REQUEST_TYPE = "requestType";

    /// In bytes.
    static final int LONGEST_COMMAND = 4 << 10;

    /// The API's own pattern and length.
    private static final Pattern ID = Pattern.compile("(?=.{1,256}$)[a-zA-Z0-9](-*[a-zA-Z0-9])*+");

    /// What a body asks for.
    enum Command {
        OPEN,
        CLOSE,
        /// It is for the hooks.
        NONE
    }

    private SessionProtocol() {}

    /// The value of the header, where it can name a session of the model.
    public static String checked(String id, ServedModel.Visit visit) {
        if (!visit.facts().sessions()) {
            throw ErrorType.BAD_INPUT.because(
                    "%s: found %s, but the hooks of this model have no sessions; leave the header out"
                            .formatted(SESSION_ID, CallerText.quoted(id)));
        }
        if (!isNew(id) && !ID.matcher(id).matches()) {
            throw ErrorType.BAD_INPUT.found(SESSION_ID, CallerText.quoted(id), "NEW_SESSION or the id of a session");
        }
        return id;
    }

    public static boolean isNew(String id) {
        return id.equals(NEW_SESSION);
    }

    /// @param id the value of the header
    /// @param body where it is short
    static Command command(String id, Optional<byte[]> body) {
        var fields = body.flatMap(SessionProtocol::fields);
        var type = fields.map(object -> object.path(REQUEST_TYPE).asText()).orElse("");
        if (!type.equals(NEW_SESSION) && !type.equals(CLOSE)) {
            return Command.NONE;
        }
        if (fields.get().size() > 1) {
            throw ErrorType.BAD_INPUT.because("body: found %d members, expected {\"%s\": \"%s\"} and nothing else"
                    .formatted(fields.get().size(), REQUEST_TYPE, type));
        }
        if (type.equals(NEW_SESSION) != isNew(id)) {
            throw ErrorType.BAD_INPUT.found(
                    SESSION_ID,
                    "%s with %s %s".formatted(CallerText.quoted(id), REQUEST_TYPE, type),
                    isNew(id) ? "the id of a session" : NEW_SESSION);
        }
        return isNew(id) ? Command.OPEN : Command.CLOSE;
    }

    private static Optional<JsonNode> fields(byte[] body) {
        try {
            return Optional.of(JsonText.read(body)).filter(JsonNode::isObject);
        } catch (NotJsonException _) {
            return Optional.empty();
        }
    }

    /// Says on the response which session was opened.
    public static void name(Context ctx, SessionStore.Turn turn) {
        var value = "%s; Expires=%s".formatted(turn.id(), turn.expires());
        ctx.header(SESSION_ID, value);
        ctx.header(NEW_SESSION_ID, value);
    }

    static void opened(Context ctx, SessionStore.Turn turn) {
        name(ctx, turn);
        send(ctx, Map.of("sessionId", turn.id()));
    }

    static void closed(Context ctx, String id) {
        ctx.header(CLOSED_SESSION_ID, id);
        send(ctx, Map.of("closedSessionId", id));
    }

    private static void send(Context ctx, Map<String, String> fields) {
        ctx.contentType("application/json");
        Sending.send(ctx, JsonText.bytes(fields));
    }
}
