package dev.berth.storage.s3;

import dev.berth.storage.Shortened;
import dev.berth.storage.StorageException;
import java.io.IOException;
import java.net.HttpURLConnection;
import java.net.UnknownHostException;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.SSLException;
import software.amazon.awssdk.awscore.exception.AwsErrorDetails;
import software.amazon.awssdk.awscore.exception.AwsServiceException;
import software.amazon.awssdk.core.exception.SdkException;

/// Turns what the AWS SDK throws, after its retries, into a [StorageException].
final class S3Errors {

    /// No other key makes such a request better. An answer to HEAD has no code.
    private static final Pattern OF_ALL_KEYS =
            Pattern.compile("|Account.*|AllAccessDisabled|Expired.*|Invalid(AccessKeyId|Token)|RequestTimeTooSkewed"
                    + "|SignatureDoesNotMatch|TokenRefreshRequired");

    private S3Errors() {}

    /// Makes a request.
    static <T> T naming(Object object, Supplier<T> request) {
        try {
            return request.get();
        } catch (SdkException | S3Connection.NoCredentialsException e) {
            throw of(object, e);
        }
    }

    /// Makes a request that writes. Outputs go to one place: if it denies one, it denies all.
    static <T> T writing(Object object, Supplier<T> request) {
        try {
            return naming(object, request);
        } catch (StorageException e) {
            throw e.getCause() instanceof AwsServiceException answer && isDenied(answer.statusCode())
                    ? StorageException.ofStore(object, refusal(answer), answer)
                    : e;
        }
    }

    static StorageException of(Object object, RuntimeException e) {
        if (Thread.currentThread().isInterrupted()) {
            return StorageException.retryable(object, "interrupted", e);
        }
        if (e instanceof AwsServiceException answer) {
            return answered(object, answer);
        }
        if (cause(e, S3Connection.NoCredentialsException.class).isPresent()) {
            return StorageException.ofStore(
                    object, "found no AWS credentials in the environment, a profile, the container or the instance", e);
        }
        return switch (cause(e, IOException.class).orElse(null)) {
            case null -> StorageException.permanent(object, Shortened.explanation(e), e);
            case UnknownHostException unknown ->
                StorageException.retryable(object, "can't be reached: unknown host " + unknown.getMessage(), e);
            case SSLException insecure ->
                StorageException.permanent(object, "can't be reached: " + Shortened.explanation(insecure), e);
            case IOException lost ->
                StorageException.retryable(object, "the connection failed: " + Shortened.explanation(lost), e);
        };
    }

    static boolean isNoSuchUpload(AwsServiceException e) {
        return code(e).equals("NoSuchUpload");
    }

    static boolean isNoSuchBucket(AwsServiceException e) {
        return code(e).equals("NoSuchBucket");
    }

    private static StorageException answered(Object object, AwsServiceException e) {
        boolean isOfKeys = e.statusCode() == HttpURLConnection.HTTP_BAD_REQUEST || isDenied(e.statusCode());
        return switch (code(e)) {
            case "NoSuchBucket" -> StorageException.ofStore(object, "no such bucket", e);
            case "NoSuchKey" -> StorageException.permanent(object, "no such object", e);
            case String _
            when e.statusCode() == HttpURLConnection.HTTP_PRECON_FAILED ->
                StorageException.permanent(object, "changed while it was read", e);
            case String _ when isPassing(e) -> StorageException.retryable(object, refusal(e), e);
            case String code
            when isOfKeys && OF_ALL_KEYS.matcher(code).matches() -> StorageException.ofStore(object, refusal(e), e);
            case String _ -> StorageException.permanent(object, refusal(e), e);
        };
    }

    private static String refusal(AwsServiceException e) {
        var message = Optional.ofNullable(e.awsErrorDetails())
                .map(AwsErrorDetails::errorMessage)
                .map(text -> ": " + Shortened.explanation(text))
                .orElse("");
        return "%s (%s)%s"
                .formatted(
                        isDenied(e.statusCode()) ? "access denied" : isPassing(e) ? "S3 failed" : "S3 refused",
                        (e.statusCode() + " " + code(e)).strip(),
                        message);
    }

    private static boolean isDenied(int status) {
        return status == HttpURLConnection.HTTP_UNAUTHORIZED || status == HttpURLConnection.HTTP_FORBIDDEN;
    }

    private static boolean isPassing(AwsServiceException e) {
        int status = e.statusCode();
        return (status >= 500 && status != HttpURLConnection.HTTP_NOT_IMPLEMENTED)
                || e.isThrottlingException()
                // The server waited for the body; its status is 400.
                || code(e).equals("RequestTimeout");
    }

    /// Empty for an answer without a body, as to HEAD.
    private static String code(AwsServiceException e) {
        return Optional.ofNullable(e.awsErrorDetails())
                .map(AwsErrorDetails::errorCode)
                .orElse("");
    }

    private static <T extends Throwable> Optional<T> cause(Throwable e, Class<T> type) {
        return Stream.iterate(e, Objects::nonNull, Throwable::getCause)
                .filter(type::isInstance)
                .map(type::cast)
                .findFirst();
    }
}
