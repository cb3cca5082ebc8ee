package dev.berth.desk;

import dev.berth.error.ErrorType;
import dev.berth.http.CallerText;
import dev.berth.serving.hooks.Deadline;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.function.UnaryOperator;
import java.util.regex.Pattern;

/// What a client asks of an asynchronous endpoint.
///
/// Source: `InvokeEndpointAsyncInput` of the API's model `sagemaker-runtime`, version 2017-05-13.
///
/// @param headers what the container is told
/// @param input the object with the payload; empty: the body is the payload
/// @param name that the caller gave the object with the answer, below the place for answers
/// @param turn until when it may wait for its turn
/// @param timeout how long its answer may take
record AsyncRequest(
        Map<String, String> headers,
        Optional<String> input,
        byte[] body,
        Optional<String> name,
        Deadline turn,
        Duration timeout) {

    private static final String PREFIX = "X-Amzn-SageMaker-";
    private static final String INFERENCE_ID = PREFIX + "Inference-Id";

    /// The names of the container's headers by those of the API, without what it puts in front.
    private static final Map<String, String> PASSED_ON = Map.of(
            "Content-Type", "Content-Type", "Accept", "Accept", "Custom-Attributes", PREFIX + "Custom-Attributes");

    /// @param header the value of a request's header; null where it has none
    /// @param body empty: the payload is in an object
    /// @param unique an id that no caller can foresee
    /// @throws dev.berth.error.ServingException where a header has a value that the API does not take
    static AsyncRequest of(UnaryOperator<String> header, byte[] body, String unique) {
        var input = Optional.ofNullable(header.apply(PREFIX + "InputLocation"));
        if (input.isPresent() == body.length > 0) {
            throw ErrorType.BAD_INPUT.found(
                    "InputLocation", input.isPresent() ? "a body too" : "neither it nor a body", "one of them");
        }
        var headers = new LinkedHashMap<String, String>();
        headers.put(
                INFERENCE_ID,
                text(header, "Inference-Id", "1 to 64 printable characters", "\\S\\p{Print}{0,63}")
                        .orElse(unique));
        PASSED_ON.forEach((api, name) -> text(header, api, "printable characters of ASCII", "[\\t\\p{Print}]*")
                .ifPresent(value -> headers.put(name, value)));
        var file = text(
                header,
                "Filename",
                "1 to 32 letters, digits and - _ with one dot at most",
                "(?!.*\\..*\\.)[a-zA-Z0-9][a-zA-Z0-9_.-]{0,31}");
        var directory = text(
                header,
                "S3OutputPathExtension",
                "a path of 1 to 512 letters, digits and ! _ . * ' ( ) / -",
                "(?!s3:|https:)[a-zA-Z0-9!_.*'()/-]{1,512}");
        return new AsyncRequest(
                headers,
                input,
                body,
                directory
                        .map(path -> path.replaceFirst("/*$", "/") + file.orElse(unique + ".out"))
                        .or(() -> file),
                Deadline.in(seconds(header, "RequestTTLSeconds", 60, 21_600, 21_600), System::nanoTime),
                seconds(header, "InvocationTimeoutSeconds", 1, 3600, 900));
    }

    String id() {
        return headers.get(INFERENCE_ID);
    }

    private static Duration seconds(UnaryOperator<String> header, String name, int least, int most, int unset) {
        var expected = "a whole number from %d to %d".formatted(least, most);
        int value =
                text(header, name, expected, "\\d{1,5}").map(Integer::valueOf).orElse(unset);
        if (value < least || value > most) {
            throw ErrorType.BAD_INPUT.found(name, CallerText.quoted(Integer.toString(value)), expected);
        }
        return Duration.ofSeconds(value);
    }

    private static Optional<String> text(UnaryOperator<String> header, String name, String expected, String pattern) {
        var value = Optional.ofNullable(header.apply(PREFIX + name));
        value.filter(text -> !Pattern.matches(pattern, text)).ifPresent(text -> {
            throw ErrorType.BAD_INPUT.found(name, CallerText.quoted(text), expected);
        });
        return value;
    }
}
