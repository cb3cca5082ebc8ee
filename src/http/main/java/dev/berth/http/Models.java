package dev.berth.http;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Excerpt;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.http.body.RequestBody;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.serving.many.ManyModels;
import io.javalin.http.Context;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;

/// `/models`: what the platform calls to load, list and unload the models of a multi-model
/// endpoint. The fields of a load have underscores, those of the answers have not. That is
/// SageMaker's way.
///
/// Runs on the request's virtual thread, which waits while a model is loaded or unloaded.
///
/// @param invocations reads the body of a load
record Models(ManyModels models, Invocations invocations) {

    private static final int MAX_BODY_BYTES = 64 << 10;
    private static final int MAX_NAME_LENGTH = 256;
    private static final int MAX_URL_LENGTH = 4096;
    private static final int PAGE = 100;

    private static final String EXPECTED = "{\"model_name\": …, \"url\": …}";

    /// Tells the token of a page from other text.
    private static final String TOKEN = "after:";

    private static final Pattern UNUSABLE = Pattern.compile("[\\p{Cntrl}\\p{Cs}]");

    void load(Context ctx) throws Exception {
        invocations.take(ctx, MAX_BODY_BYTES, body -> {
            var fields = fields(whole(ctx, body));
            var name = text(fields, "model_name", MAX_NAME_LENGTH);
            if (name.equals(".") || name.equals("..")) {
                throw ErrorType.BAD_INPUT.found("model_name", CallerText.quoted(name), "a name that a path can hold");
            }
            answer(ctx, describe(models.load(name, Path.of(text(fields, "url", MAX_URL_LENGTH)))));
        });
    }

    void list(Context ctx) {
        int limit = limit(ctx.queryParam("limit"));
        var after = Optional.ofNullable(ctx.queryParam("next_page_token")).map(Models::afterToken);
        var rest = models.list().stream()
                .filter(entry -> after.isEmpty() || entry.name().compareTo(after.get()) > 0)
                .limit(limit + 1L)
                .toList();
        var page = rest.subList(0, Math.min(limit, rest.size()));
        var listing = new LinkedHashMap<String, Object>();
        listing.put("models", page.stream().map(Models::describe).toList());
        if (rest.size() > limit) {
            listing.put("nextPageToken", tokenAfter(page.getLast().name()));
        }
        answer(ctx, listing);
    }

    void describe(Context ctx) {
        answer(ctx, describe(models.describe(ctx.pathParam("name"))));
    }

    void unload(Context ctx) throws Exception {
        answer(ctx, describe(models.unload(ctx.pathParam("name"))));
    }

    private static Map<String, Object> describe(ManyModels.Entry entry) {
        var fields = new LinkedHashMap<String, Object>();
        fields.put("modelName", entry.name());
        fields.put("modelUrl", entry.directory().toString());
        entry.status().ifPresent(status -> fields.put("status", status));
        entry.problem().ifPresent(problem -> fields.put("problem", problem));
        return fields;
    }

    private static void answer(Context ctx, Map<String, Object> fields) {
        ctx.contentType("application/json").result(JsonText.bytes(fields));
    }

    private static byte[] whole(Context ctx, RequestBody body) throws IOException {
        requireJson(ctx.header("Content-Type"));
        try {
            return body.readAllBytes();
        } catch (ServingException e) {
            throw e.type() != ErrorType.PAYLOAD_TOO_LARGE
                    ? e
                    : e.type().found("body", "more than %d bytes".formatted(MAX_BODY_BYTES), EXPECTED);
        }
    }

    /// A page can have a browser send any body of another type, or of none.
    private static void requireJson(String header) {
        if (Optional.ofNullable(header)
                .flatMap(MediaType::parse)
                .filter(type -> type.withoutParameters().equals(MediaType.JSON))
                .isEmpty()) {
            throw ErrorType.UNSUPPORTED_MEDIA_TYPE.found("Content-Type", CallerText.found(header), MediaType.JSON);
        }
    }

    private static JsonNode fields(byte[] body) {
        try {
            var fields = JsonText.read(body);
            if (fields.isObject()) {
                return fields;
            }
            throw ErrorType.BAD_INPUT.found("body", Excerpt.of(fields), EXPECTED);
        } catch (NotJsonException e) {
            throw ErrorType.BAD_INPUT.because("body: %s; a load is %s".formatted(e.getMessage(), EXPECTED));
        }
    }

    private static String text(JsonNode fields, String name, int maxLength) {
        var field = fields.path(name);
        if (!field.isTextual()) {
            throw ErrorType.BAD_INPUT.found(name, Excerpt.of(field), "a string");
        }
        var text = field.textValue();
        if (text.isEmpty() || text.length() > maxLength) {
            throw ErrorType.BAD_INPUT.found(name, text.length() + " characters", "1 to " + maxLength);
        }
        if (UNUSABLE.matcher(text).find()) {
            throw ErrorType.BAD_INPUT.found(name, "a control character or half of a surrogate pair", "none");
        }
        return text;
    }

    private static int limit(String text) {
        if (text == null) {
            return PAGE;
        }
        if (!text.matches("0*[1-9]\\d*")) {
            throw ErrorType.BAD_INPUT.found("limit", CallerText.quoted(text), "a whole number of at least 1");
        }
        return new BigInteger(text).min(BigInteger.valueOf(PAGE)).intValue();
    }

    /// Where the next page of a listing begins: behind the last name of the page before. So models
    /// may come and go meanwhile.
    private static String tokenAfter(String name) {
        return Base64.getUrlEncoder().withoutPadding().encodeToString((TOKEN + name).getBytes(StandardCharsets.UTF_8));
    }

    /// The name behind which the page begins.
    private static String afterToken(String token) {
        try {
            var text = new String(Base64.getUrlDecoder().decode(token), StandardCharsets.UTF_8);
            var name = text.substring(Math.min(TOKEN.length(), text.length()));
            if (tokenAfter(name).equals(token)) {
                return name;
            }
        } catch (IllegalArgumentException _) {
            // It is not Base64.
        }
        throw ErrorType.BAD_INPUT.found("next_page_token", CallerText.quoted(token), "the nextPageToken of a listing");
    }
}
