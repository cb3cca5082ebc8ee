package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import io.javalin.http.Context;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiFunction;
import java.util.function.Function;

/// How a failure is said to a caller: the form that its protocol has for errors. [Failures] asks
/// for it on the request's thread.
///
/// A body has at most 2048 characters, because SageMaker cuts what it hands on there (`ModelError`).
public class ErrorForm {

    static final String CONTENT_TYPE = "application/json; charset=utf-8";

    private static final int MAX_LENGTH = 2048;

    /// `{"message": …, "type": …, "code": …}`, the useful part first.
    public static final ErrorForm PLAIN = named(ErrorForm::word);

    /// The same inside an `error`, as OpenAI and Google have it, and where readers must tell it from an
    /// answer: in parts and in frames.
    public static final ErrorForm NESTED = new ErrorForm(
            MediaType.JSON.toString(), (type, text) -> Map.of("error", new Plain(text, word(type), type.status())));

    /// `{"error": …}`, as the Open Inference Protocol and Hugging Face have it. KServe's client shows
    /// no error whose media type has a parameter.
    public static final ErrorForm TEXT = new ErrorForm(MediaType.JSON.toString(), (_, text) -> Map.of("error", text)) {
        @Override
        byte[] malformed(int status, String message) {
            return body(ErrorType.BAD_INPUT, message);
        }
    };

    private record Plain(String message, String type, int code) {}

    private final String contentType;
    private final BiFunction<ErrorType, String, Object> body;

    /// @param body the value that a body has as JSON, by its type and its message
    public ErrorForm(String contentType, BiFunction<ErrorType, String, Object> body) {
        this.contentType = contentType;
        this.body = body;
    }

    /// [#PLAIN] with the words of another server.
    ///
    /// @param words for a type of errors
    public static ErrorForm named(Function<ErrorType, String> words) {
        return new ErrorForm(CONTENT_TYPE, (type, text) -> new Plain(text, words.apply(type), type.status()));
    }

    private static String word(ErrorType type) {
        return type.code().toLowerCase(Locale.ROOT);
    }

    /// The body of an answer to no request in particular, and of a part of an answer.
    public byte[] body(ErrorType type, String message) {
        return shortened(message, text -> body.apply(type, text));
    }

    /// The body for a request that reaches no route, with a status that only Jetty knows, such as 431.
    byte[] malformed(int status, String message) {
        return shortened(message, text -> new Plain(text, status < 500 ? "bad_request" : "internal", status));
    }

    protected int status(ErrorType type) {
        return type.status();
    }

    /// What a request for a path fails with that there is not.
    protected ServingException noSuchPath(Context ctx, ServingException notFound) {
        return notFound;
    }

    /// Answers a request that has failed.
    protected void answer(Context ctx, ServingException e) {
        ctx.status(status(e.type())).contentType(contentType);
        if (e.type().isRefusal()) {
            ctx.header("Retry-After", Integer.toString(e.type().retryAfter()));
        }
        Sending.send(ctx, shortened(e.getMessage(), text -> body.apply(e.type(), text)));
    }

    /// A body whose message is cut until the whole is short enough.
    private static byte[] shortened(String message, Function<String, ?> body) {
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
