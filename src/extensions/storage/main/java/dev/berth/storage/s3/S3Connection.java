package dev.berth.storage.s3;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.time.Duration;
import java.util.Optional;
import software.amazon.awssdk.auth.credentials.AnonymousCredentialsProvider;
import software.amazon.awssdk.auth.credentials.AwsCredentials;
import software.amazon.awssdk.auth.credentials.AwsCredentialsProvider;
import software.amazon.awssdk.auth.credentials.DefaultCredentialsProvider;
import software.amazon.awssdk.awscore.retry.AwsRetryStrategy;
import software.amazon.awssdk.core.checksums.RequestChecksumCalculation;
import software.amazon.awssdk.core.checksums.ResponseChecksumValidation;
import software.amazon.awssdk.core.exception.RetryableException;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.core.interceptor.Context;
import software.amazon.awssdk.core.interceptor.ExecutionAttributes;
import software.amazon.awssdk.core.interceptor.ExecutionInterceptor;
import software.amazon.awssdk.http.apache5.Apache5HttpClient;
import software.amazon.awssdk.regions.Region;
import software.amazon.awssdk.regions.providers.AwsProfileRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProvider;
import software.amazon.awssdk.regions.providers.AwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.DefaultAwsRegionProviderChain;
import software.amazon.awssdk.regions.providers.SystemSettingsRegionProvider;
import software.amazon.awssdk.retries.api.BackoffStrategy;
import software.amazon.awssdk.retries.api.RetryStrategy;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.GetObjectRequest;

/// The AWS SDK's client of one store. It is made when the first request is.
final class S3Connection implements AutoCloseable {

    private static final Duration CONNECT = Duration.ofSeconds(10);

    /// Of streams and writers that are open at once. The SDK's 50 would be a trap: each open stream
    /// holds one.
    private static final int MOST_CONNECTIONS = 1000;

    private final S3Options options;
    private final boolean checksums;
    private S3Client client;

    /// @param checksums whether parts travel with a CRC of their own. AWS understands that, many
    ///   other servers do not: so only where there is no endpoint
    S3Connection(S3Options options, boolean checksums) {
        this.options = options;
        this.checksums = checksums;
    }

    synchronized S3Client client() {
        if (client == null) {
            client = create(options, checksums);
        }
        return client;
    }

    RetryPolicy retries() {
        return options.retries();
    }

    boolean checksums() {
        return checksums;
    }

    @Override
    public synchronized void close() {
        if (client != null) {
            client.close();
        }
    }

    private static S3Client create(S3Options options, boolean checksums) {
        var builder = S3Client.builder()
                .credentialsProvider(
                        options.anonymous() ? AnonymousCredentialsProvider.create() : new DefaultCredentials())
                .region(region(options))
                .forcePathStyle(options.pathStyle() || options.endpoint().isPresent())
                .crossRegionAccessEnabled(options.endpoint().isEmpty())
                .httpClient(Apache5HttpClient.builder()
                        .connectionTimeout(CONNECT)
                        .socketTimeout(options.retries().silence())
                        .maxConnections(MOST_CONNECTIONS)
                        .build())
                .overrideConfiguration(override ->
                        override.addExecutionInterceptor(new WholeAnswers()).retryStrategy(retries(options.retries())));
        if (!checksums) {
            builder.requestChecksumCalculation(RequestChecksumCalculation.WHEN_REQUIRED)
                    .responseChecksumValidation(ResponseChecksumValidation.WHEN_REQUIRED);
        }
        options.endpoint().ifPresent(builder::endpointOverride);
        return builder.build();
    }

    static BackoffStrategy backoff(RetryPolicy policy) {
        return BackoffStrategy.exponentialDelay(policy.firstDelay(), policy.longestDelay());
    }

    /// The standard strategy ends all retries of a client that has made many. A job of a million
    /// objects makes many.
    private static RetryStrategy retries(RetryPolicy policy) {
        return AwsRetryStrategy.standardRetryStrategy().toBuilder()
                .maxAttempts(policy.attempts())
                .backoffStrategy(backoff(policy))
                .throttlingBackoffStrategy(backoff(policy))
                .circuitBreakerEnabled(false)
                .build();
    }

    private static Region region(S3Options options) {
        return options.region().map(Region::of).orElseGet(() -> {
            // The last of the default chain asks the instance, which has nothing to say about
            // another server.
            AwsRegionProvider chain = options.endpoint().isPresent()
                    ? new AwsRegionProviderChain(new SystemSettingsRegionProvider(), new AwsProfileRegionProvider())
                    : new DefaultAwsRegionProviderChain();
            try {
                return chain.getRegion();
            } catch (SdkClientException e) {
                return Region.US_EAST_1;
            }
        });
    }

    /// The default chain found no credentials.
    static final class NoCredentialsException extends RuntimeException {
        private NoCredentialsException(SdkClientException cause) {
            super(cause);
        }
    }

    /// The default chain, whose failure can be told from others.
    private static final class DefaultCredentials implements AwsCredentialsProvider, AutoCloseable {
        private final DefaultCredentialsProvider chain =
                DefaultCredentialsProvider.builder().build();

        @Override
        public AwsCredentials resolveCredentials() {
            try {
                return chain.resolveCredentials();
            } catch (SdkClientException e) {
                throw new NoCredentialsException(e);
            }
        }

        @Override
        public void close() {
            chain.close();
        }
    }

    /// Takes in each answer but an object itself before it is parsed, so that one that ends too early
    /// is a lost connection and the request is sent again. The AWS SDK takes it for XML that is not
    /// well-formed, and gives up.
    private static final class WholeAnswers implements ExecutionInterceptor {

        @Override
        public Optional<InputStream> modifyHttpResponseContent(
                Context.ModifyHttpResponse context, ExecutionAttributes attributes) {
            var body = context.responseBody();
            if (body.isEmpty()
                    || (context.request() instanceof GetObjectRequest
                            && context.httpResponse().isSuccessful())) {
                return body;
            }
            try (var in = body.get()) {
                return Optional.of(new ByteArrayInputStream(in.readAllBytes()));
            } catch (IOException e) {
                throw RetryableException.create("the answer ended too early", e);
            }
        }
    }
}
