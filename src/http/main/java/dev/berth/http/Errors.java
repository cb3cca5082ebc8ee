package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.json.JsonText;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Locale;
import java.util.Map;
import java.util.function.Function;

/// The one place where a failure gets its body: `{"message": …, "type": …, "code": …}`, the useful
/// part first, in at most 2048 characters because SageMaker cuts what it hands on there
/// (`ModelError`).
public final class Errors {

    public static final String CONTENT_TYPE = "application/json; charset=utf-8";

    private static final int MAX_LENGTH = 2048;

    private Errors() {}

    public static byte[] body(ErrorType type, String message) {
        return body(type.code().toLowerCase(Locale.ROOT), type.status(), message);
    }

    /// The same with the word that another server has for the type.
    public static byte[] named(String type, ErrorType error, String message) {
        return body(type, error.status(), message);
    }

    /// The body inside an `error`, where readers must tell it from an answer: in parts, in frames,
    /// and where OpenAI's clients ask.
    public static byte[] wrapped(ErrorType type, String message) {
        return "{\"error\":%s}"
                .formatted(new String(body(type, message), StandardCharsets.UTF_8))
                .getBytes(StandardCharsets.UTF_8);
    }

    /// The message alone, as clients of the Open Inference Protocol read it.
    public static byte[] alone(String message) {
        return shortened(message, text -> Map.of("error", text));
    }

    /// The body for a status that only the HTTP server knows, such as 431.
    static byte[] body(int status, String message) {
        return body(status < 500 ? "bad_request" : "internal", status, message);
    }

    private static byte[] body(String type, int status, String message) {
        return shortened(message, text -> {
            var fields = new LinkedHashMap<String, Object>();
            fields.put("message", text);
            fields.put("type", type);
            fields.put("code", status);
            return fields;
        });
    }

    /// A body whose message is cut until the whole is short enough.
    public static byte[] shortened(String message, Function<String, Map<String, ?>> body) {
        // At once, as a hook's message may be of any length.
        var shortened = message == null ? "" : CallerText.cut(message, MAX_LENGTH);
        var text = JsonText.write(body.apply(shortened));
        while (text.length() > MAX_LENGTH) {
            // In proportion, because an escape is longer than the character that it stands for.
            int length = (int) ((long) shortened.length() * MAX_LENGTH / text.length());
            shortened = CallerText.cut(shortened, Math.max(1, length - 1));
            text = JsonText.write(body.apply(shortened));
        }
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
