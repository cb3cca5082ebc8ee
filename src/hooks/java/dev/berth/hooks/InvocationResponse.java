package dev.berth.hooks;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.Optional;

/// What [InferenceHandler#outputFn] answers: a body, its content type and, if wanted, custom
/// attributes.
///
/// @param body the bytes to send, not copied: the caller hands them over
/// @param contentType sent as it is written, so it should match what data capture expects
/// @param customAttributes sent as `X-Amzn-SageMaker-Custom-Attributes`: at most 1024 printable
///   ASCII characters
public record InvocationResponse(byte[] body, MediaType contentType, Optional<String> customAttributes) {

    private static final int MAX_CUSTOM_ATTRIBUTES = 1024;

    public InvocationResponse {
        Objects.requireNonNull(body, "body");
        Objects.requireNonNull(contentType, "contentType");
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

    private static void checkCustomAttributes(String value) {
        if (value.length() > MAX_CUSTOM_ATTRIBUTES) {
            throw new IllegalArgumentException("customAttributes: found %d characters, expected at most %d"
                    .formatted(value.length(), MAX_CUSTOM_ATTRIBUTES));
        }
        value.chars().filter(c -> c < ' ' || c > '~').findFirst().ifPresent(c -> {
            throw new IllegalArgumentException("customAttributes: found U+%04X, expected printable ASCII".formatted(c));
        });
    }
}
