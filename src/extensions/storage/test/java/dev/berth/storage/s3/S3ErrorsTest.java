package dev.berth.storage.s3;

import static dev.berth.storage.s3.Impatient.write;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.sun.net.httpserver.HttpServer;
import dev.berth.storage.StorageException;
import dev.berth.testing.FaultyProxy;
import dev.berth.testing.FaultyProxy.Fault;
import dev.berth.testing.S3Server;
import dev.berth.testing.SystemProperties;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.assertj.core.api.AbstractThrowableAssert;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import software.amazon.awssdk.core.exception.SdkClientException;
import software.amazon.awssdk.regions.Region;

/// What is said when S3 says no.
class S3ErrorsTest {

    private static final String OBJECT = "s3://bucket/object";
    private static final byte[] MORE_THAN_A_PART = new byte[9 << 20];

    private static final Optional<URI> ELSEWHERE = Optional.of(URI.create("http://localhost:9"));
    private static final S3Options OPTIONS =
            new S3Options(ELSEWHERE, false, Optional.empty(), false, RetryPolicy.DEFAULT);

    private static final Map<String, String> NO_FILES =
            Map.of("aws.configFile", "/no/such/file", "aws.sharedCredentialsFile", "/no/such/file");

    @AutoClose
    private static S3Server server;

    @BeforeAll
    static void start() throws Exception {
        server = S3Server.start().createBucket("bucket");
        server.put("bucket", "object", "text");
    }

    @Test
    void aBucketOrAnObjectThatIsNotThereIsNamed() {
        try (var storage = Impatient.storage(server.endpoint())) {
            var nowhere = storage.at("s3://nowhere/a");
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> nowhere.list(),
                    () -> nowhere.open(),
                    () -> write(nowhere, new byte[1]),
                    () -> write(nowhere, MORE_THAN_A_PART))) {
                assertPermanent(call).hasMessage("s3://nowhere/a: no such bucket");
            }
            assertPermanent(() -> storage.at("s3://bucket/none").open()).hasMessage("s3://bucket/none: no such object");
        }
    }

    @Test
    void aBucketIsNoObject() {
        try (var storage = Impatient.storage(server.endpoint())) {
            var bucket = storage.at("s3://bucket/");
            assertThat(bucket.size()).isEmpty();
            assertPermanent(() -> bucket.open())
                    .hasMessage("s3://bucket/: can't be read: found a bucket, expected an object");
            assertPermanent(() -> bucket.create())
                    .hasMessage("s3://bucket/: can't be written: found a bucket, expected an object");
        }
    }

    @Test
    void whoMayNotIsToldSo() {
        try (var storage = Impatient.anonymous(server.endpoint())) {
            for (ThrowingCallable call : List.<ThrowingCallable>of(
                    () -> storage.at(OBJECT).list(),
                    () -> storage.at(OBJECT).open(),
                    () -> write(storage.at(OBJECT), new byte[1]))) {
                assertPermanent(call).hasMessageStartingWith("s3://bucket/object: access denied (403 AccessDenied): ");
            }
            assertPermanent(() -> storage.at(OBJECT).size())
                    .hasMessageStartingWith("s3://bucket/object: access denied (403");
        }
        try (var _ = new SystemProperties(Map.of("aws.secretAccessKey", "wrong"));
                var storage = Impatient.storage(server.endpoint())) {
            for (var bytes : List.of(new byte[1], MORE_THAN_A_PART)) {
                assertPermanent(() -> write(storage.at(OBJECT), bytes))
                        .hasMessageStartingWith("s3://bucket/object: access denied (403 SignatureDoesNotMatch): ");
            }
        }
    }

    /// What may pass is asked for again. Any other object would meet the same where the store is at
    /// fault; outputs go to one place, so it is where that denies one.
    @ParameterizedTest
    @CsvSource({
        "400, InvalidArgument, S3 refused, false, false, false",
        "400, ExpiredToken, S3 refused, false, true, true",
        "400, RequestTimeout, S3 failed, true, false, false",
        "401, Unauthorized, access denied, false, false, true",
        "403, AccessDenied, access denied, false, false, true",
        "403, InvalidAccessKeyId, access denied, false, true, true",
        "429, TooManyRequests, S3 failed, true, false, false",
        "500, InternalError, S3 failed, true, false, false",
        "501, NotImplemented, S3 refused, false, false, false",
        "503, SlowDown, S3 failed, true, false, false"
    })
    void whoIsAtFaultIsKnown(
            int status, String code, String said, boolean isRetryable, boolean isOfStore, boolean isOfStoreToWriters)
            throws IOException {
        try (var proxy = new FaultyProxy(server.endpoint(), _ -> new Fault.Answer(status, code));
                var storage = Impatient.storage(proxy.endpoint())) {
            assertThatThrownBy(() -> storage.at(OBJECT).open())
                    .isInstanceOfSatisfying(StorageException.class, e -> {
                        assertThat(e.isRetryable()).isEqualTo(isRetryable);
                        assertThat(e.isOfStore()).isEqualTo(isOfStore);
                    })
                    .hasMessage("s3://bucket/object: %s (%d %s): as scheduled", said, status, code);
            assertThat(proxy.requests()).hasSize(isRetryable ? Impatient.RETRIES.attempts() : 1);
            assertThatThrownBy(() -> write(storage.at(OBJECT), new byte[1]))
                    .isInstanceOfSatisfying(
                            StorageException.class,
                            e -> assertThat(e.isOfStore()).isEqualTo(isOfStoreToWriters));
        }
    }

    @Test
    void aLongExplanationIsCut() {
        var cause = SdkClientException.create("why\n ".repeat(100));
        assertThat(S3Errors.of("s3://bucket/object", cause))
                .hasMessage("s3://bucket/object: " + "why ".repeat(60) + "…");
    }

    @Test
    void aServerThatCannotBeReachedIsSaid() throws IOException {
        int closed;
        try (var socket = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
            closed = socket.getLocalPort();
        }
        try (var storage = Impatient.storage(URI.create("http://127.0.0.1:" + closed))) {
            assertRetryable(() -> storage.at(OBJECT).list())
                    .hasMessageStartingWith("s3://bucket/object: the connection failed: ")
                    .hasMessageContaining("refused");
        }
        try (var storage = Impatient.storage(URI.create("http://no-such-host.invalid"))) {
            assertRetryable(() -> storage.at(OBJECT).list())
                    .hasMessageStartingWith("s3://bucket/object: can't be reached: unknown host no-such-host.invalid");
        }
    }

    @Test
    void aServerThatSpeaksNoTlsIsSaid() {
        try (var storage =
                Impatient.storage(URI.create(server.endpoint().toString().replace("http:", "https:")))) {
            assertPermanent(() -> storage.at(OBJECT).list())
                    .hasMessageStartingWith("s3://bucket/object: can't be reached: ");
        }
    }

    /// How many bytes an answer says that it has (0: does not say it). It has 4, and knows no ranges.
    @ParameterizedTest
    @CsvSource({
        "0, an answer without the object's size, a Content-Length",
        "10, an answer without a range, bytes 4-9/10"
    })
    void anAnswerThatDoesNotSayWhatItHasIsRefused(long declared, String found, String expected) throws IOException {
        var odd = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        odd.createContext("/", exchange -> {
            exchange.sendResponseHeaders(200, declared);
            exchange.getResponseBody().write(new byte[4]);
            exchange.getResponseBody().flush();
            exchange.close();
        });
        odd.start();
        try (var storage = Impatient.storage(
                URI.create("http://127.0.0.1:" + odd.getAddress().getPort()))) {
            assertPermanent(() -> storage.at(OBJECT).open().readAllBytes())
                    .hasMessage("%s: found %s, expected %s", OBJECT, found, expected);
        } finally {
            odd.stop(0);
        }
    }

    @Test
    void anInterruptedCallIsNoFaultOfS3() {
        try (var storage = Impatient.storage(server.endpoint())) {
            Thread.currentThread().interrupt();
            assertRetryable(() -> storage.at(OBJECT).size()).hasMessage("s3://bucket/object: interrupted");
        } finally {
            assertThat(Thread.interrupted()).isTrue();
        }
    }

    @Test
    void missingCredentialsAreSaid() {
        var sources = Set.of(
                "AWS_ACCESS_KEY_ID",
                "AWS_ROLE_ARN",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        assumeTrue(System.getenv().keySet().stream().noneMatch(sources::contains), "this machine has credentials");
        try (var _ = new SystemProperties(NO_FILES);
                var _ = new SystemProperties(
                        Map.of("aws.accessKeyId", "", "aws.secretAccessKey", "", "aws.disableEc2Metadata", "true"));
                var storage = Impatient.storage(OPTIONS)) {
            assertPermanent(() -> storage.at(OBJECT).list())
                    .hasMessage(
                            "s3://bucket/object: found no AWS credentials in the environment, a profile, the container or the instance");
        }
    }

    @Test
    void theRegionIsTheOptionsThenTheEnvironmentsThenOneThatAlwaysIs() {
        try (var _ = new SystemProperties(NO_FILES)) {
            assumeTrue(System.getenv("AWS_REGION") == null);
            assertThat(region(OPTIONS)).isEqualTo(Region.US_EAST_1);
            assertThat(region(in("eu-west-1", ELSEWHERE, false))).isEqualTo(Region.EU_WEST_1);
            try (var _ = new SystemProperties(Map.of("aws.region", "ap-south-1"))) {
                assertThat(region(OPTIONS)).isEqualTo(Region.AP_SOUTH_1);
                assertThat(region(S3Options.read(_ -> Optional.empty()))).isEqualTo(Region.AP_SOUTH_1);
                assertThat(region(in("eu-west-1", Optional.empty(), true))).isEqualTo(Region.EU_WEST_1);
            }
        }
    }

    private static S3Options in(String region, Optional<URI> endpoint, boolean pathStyle) {
        return new S3Options(endpoint, pathStyle, Optional.of(region), false, RetryPolicy.DEFAULT);
    }

    private static Region region(S3Options options) {
        try (var connection = new S3Connection(options, false)) {
            return connection.client().serviceClientConfiguration().region();
        }
    }

    static AbstractThrowableAssert<?, ?> assertPermanent(ThrowingCallable call) {
        return assertFailed(call, false);
    }

    static AbstractThrowableAssert<?, ?> assertRetryable(ThrowingCallable call) {
        return assertFailed(call, true);
    }

    private static AbstractThrowableAssert<?, ?> assertFailed(ThrowingCallable call, boolean isRetryable) {
        return assertThatThrownBy(call)
                .isInstanceOfSatisfying(
                        StorageException.class, e -> assertThat(e.isRetryable()).isEqualTo(isRetryable));
    }
}
