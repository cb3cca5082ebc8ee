package dev.berth.hooks;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;

/// What [InferenceHandler#outputFn] answers: a body, its content type and, if wanted, custom
/// attributes. It may gain parts: make it by [#of], and read it by its accessors.
///
/// @param body the bytes to send, not copied: the caller hands them over
/// @param contentType sent as it is written, as data capture expects it: at most 1024 characters
/// @param customAttributes sent as `X-Amzn-SageMaker-Custom-Attributes`: at most 1024 printable
///   ASCII characters
public record InvocationResponse(byte[] body, MediaType contentType, Optional<String> customAttributes) {

    /// SageMaker's own limit of both. Its asynchronous endpoints take 4096 bytes of headers in all.
    private static final int MAX_HEADER = 1024;

    public InvocationResponse {
        Objects.requireNonNull(body, "body");
        Objects.requireNonNull(contentType, "contentType");
        checkLength("contentType", contentType.toString());
        customAttributes.ifPresent(InvocationResponse::checkCustomAttributes);
    }

    public static InvocationResponse of(byte[] body, MediaType contentType) {
        return new InvocationResponse(body, contentType, Optional.empty());
    }

    /// The text in UTF-8.
    public static InvocationResponse of(String body, MediaType contentType) {
        return of(body.getBytes(StandardCharsets.UTF_8), contentType);
    }

    public InvocationResponse withCustomAttributes(String customAttributes) {
        return new InvocationResponse(body, contentType, Optional.of(customAttributes));
    }

    private static void checkLength(String name, String value) {
        if (value.length() > MAX_HEADER) {
            throw new IllegalArgumentException(
                    "%s: found %d characters, expected at most %d".formatted(name, value.length(), MAX_HEADER));
        }
    }

    private static void checkCustomAttributes(String value) {
        checkLength("customAttributes", value);
        value.chars().filter(c -> c < ' ' || c > '~').findFirst().ifPresent(c -> {
            throw new IllegalArgumentException("customAttributes: found U+%04X, expected printable ASCII".formatted(c));
        });
    }
}
