package dev.berth.storage.s3;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.berth.storage.StorageException;
import dev.berth.testing.SystemProperties;
import java.net.URI;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.junit.jupiter.api.Test;
import software.amazon.awssdk.regions.Region;

class S3ConnectionTest {

    private static final Optional<URI> ELSEWHERE = Optional.of(URI.create("http://localhost:9"));
    private static final S3Options OPTIONS =
            new S3Options(ELSEWHERE, false, Optional.empty(), false, RetryPolicy.DEFAULT);

    @Test
    void missingCredentialsAreSaid() {
        var sources = Set.of(
                "AWS_ACCESS_KEY_ID",
                "AWS_ROLE_ARN",
                "AWS_CONTAINER_CREDENTIALS_FULL_URI",
                "AWS_CONTAINER_CREDENTIALS_RELATIVE_URI");
        assumeTrue(System.getenv().keySet().stream().noneMatch(sources::contains), "this machine has credentials");
        try (var _ = new SystemProperties(Map.of(
                        "aws.accessKeyId",
                        "",
                        "aws.secretAccessKey",
                        "",
                        "aws.disableEc2Metadata",
                        "true",
                        "aws.sharedCredentialsFile",
                        "/no/such/file",
                        "aws.configFile",
                        "/no/such/file"));
                var storage = Impatient.storage(OPTIONS)) {
            assertThatThrownBy(() -> storage.at("s3://bucket/object").list())
                    .isInstanceOfSatisfying(
                            StorageException.class,
                            e -> assertThat(e.isRetryable()).isFalse())
                    .hasMessage(
                            "s3://bucket/object: found no AWS credentials in the environment, a profile, the container or the instance");
        }
    }

    @Test
    void theRegionIsTheOptionsThenTheEnvironmentsThenOneThatAlwaysIs() {
        try (var _ = new SystemProperties(
                Map.of("aws.configFile", "/no/such/file", "aws.sharedCredentialsFile", "/no/such/file"))) {
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
}
