package dev.berth.storage.s3;

import dev.berth.storage.Storage;
import java.net.URI;
import java.util.Optional;
import java.util.function.Function;

/// Which S3 to talk to, and how. Credentials come from the AWS SDK's default chain: system
/// properties, environment, web identity, profile, container, instance.
///
/// @param endpoint the URL of the server, where it is not AWS itself; its buckets are addressed by
///   path
/// @param pathStyle whether buckets are addressed by path on AWS too
/// @param region where it is not to come from `AWS_REGION`, the profile or the instance. An
///   endpoint without one, and AWS where nothing names one, get `us-east-1`; a bucket elsewhere is
///   found by itself
/// @param anonymous whether requests are sent without a signature, for public buckets
public record S3Options(
        Optional<URI> endpoint, boolean pathStyle, Optional<String> region, boolean anonymous, RetryPolicy retries) {

    static final String ENDPOINT = "--endpoint-url";
    static final String REGION = "--region";
    static final String PATH_STYLE = "--path-style";
    static final String ANONYMOUS = "--no-sign-request";

    static S3Options read(Function<String, Optional<String>> given) {
        return new S3Options(
                given.apply(ENDPOINT).map(text -> Storage.url(ENDPOINT, text)),
                given.apply(PATH_STYLE).isPresent(),
                given.apply(REGION),
                given.apply(ANONYMOUS).isPresent(),
                RetryPolicy.DEFAULT);
    }
}
