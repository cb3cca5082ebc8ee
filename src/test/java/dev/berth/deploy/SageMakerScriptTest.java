package dev.berth.deploy;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.testing.BerthImage;
import dev.berth.testing.DeployTools;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `deploy/sagemaker/deploy.py` with AWS's SDK for Python, whose models check every parameter,
/// against a server that stands in for SageMaker.
@Tag("packaged")
class SageMakerScriptTest {

    private static final Path DIRECTORY = Path.of("deploy/sagemaker").toAbsolutePath();
    private static final String ROLE = "arn:aws:iam::123456789012:role/berth";

    @TempDir
    private Path directory;

    @AutoClose
    private final FakeSageMaker sagemaker = new FakeSageMaker();

    private record Run(int code, String out, String err) {}

    @BeforeAll
    static void buildTheImage() throws Exception {
        BerthImage.needsDocker();
        DeployTools.build();
    }

    @Test
    void itMakesWhatIsMissingAndChangesWhatIsAnother() throws Exception {
        sagemaker.statuses("Creating", "Creating");
        var run = deploy();
        assertThat(run.code()).as(run.err()).isZero();
        assertThat(run.out()).startsWith("qa is in service with qa-");
        var calls = sagemaker.calls();
        assertThat(actions(calls))
                .containsExactly(
                        "DescribeModel",
                        "CreateModel",
                        "DescribeEndpointConfig",
                        "CreateEndpointConfig",
                        "DescribeEndpoint",
                        "CreateEndpoint",
                        "DescribeEndpoint",
                        "DescribeEndpoint",
                        "DescribeEndpoint",
                        "DescribeEndpoint");
        var model = calls.get(1).parameters();
        assertThat(model.at("/PrimaryContainer/ModelDataUrl").asText()).isEqualTo("s3://my-bucket/model.tar.gz");
        assertThat(model.at("/PrimaryContainer/Mode").asText()).isEqualTo("SingleModel");
        assertThat(model.path("ExecutionRoleArn").asText()).isEqualTo(ROLE);
        var variant = calls.get(3).parameters().at("/ProductionVariants/0");
        assertThat(variant.path("ModelName")).isEqualTo(model.path("ModelName"));
        assertThat(variant.path("InstanceType").asText()).isEqualTo("ml.c5.large");
        assertThat(calls.get(5).parameters().path("EndpointConfigName"))
                .isEqualTo(calls.get(3).parameters().path("EndpointConfigName"));

        assertThat(deploy().code()).isZero();
        assertThat(actions(sagemaker.calls())).allMatch(action -> action.startsWith("Describe"));

        sagemaker.statuses("InService", "Updating");
        assertThat(deploy("--instance-type", "ml.c5.xlarge").code()).isZero();
        assertThat(actions(sagemaker.calls()))
                .filteredOn(action -> !action.startsWith("Describe"))
                .containsExactly("CreateEndpointConfig", "UpdateEndpoint");
    }

    @Test
    void aKindHasWhatItNeeds() throws Exception {
        assertThat(deploy("--kind", "serverless").code()).isZero();
        var variant = made("CreateEndpointConfig").at("/ProductionVariants/0");
        assertThat(variant.has("ServerlessConfig")).isTrue();
        assertThat(variant.has("InstanceType")).isFalse();
        assertThat(deploy("--kind", "async").code()).isZero();
        assertThat(made("CreateEndpointConfig")
                        .at("/AsyncInferenceConfig/OutputConfig/S3OutputPath")
                        .asText())
                .isEqualTo("s3://my-bucket/async/");
        assertThat(deploy("--kind", "multi-model", "--env", "BERTH_WORKERS=2").code())
                .isZero();
        var container = made("CreateModel").path("PrimaryContainer");
        assertThat(container.path("Mode").asText()).isEqualTo("MultiModel");
        assertThat(container.at("/Environment/BERTH_WORKERS").asText()).isEqualTo("2");
    }

    @Test
    void aProblemIsOneLine() throws Exception {
        assertFails(deploy("--role", "berth"), "Invalid length for parameter ExecutionRoleArn");
        // Debian's SDK is older than the parameter.
        assertFails(deploy("--inference-ami", "al2-ami-sagemaker-inference-gpu-3-1"), "InferenceAmiVersion");
        sagemaker.statuses("Failed");
        assertFails(deploy(), "The container did not pass the ping health check");
        assertThat(deploy().code()).isZero();
        sagemaker.rollBack();
        assertFails(deploy("--instances", "3"), "qa was rolled back: SageMaker gives no reason");
        sagemaker.refuse("UpdateEndpoint");
        assertFails(deploy("--instances", "2"), "not authorized to perform: sagemaker:UpdateEndpoint");
    }

    private static void assertFails(Run run, String message) {
        assertThat(run.code()).isEqualTo(1);
        assertThat(run.err()).startsWith("deploy.py: ").contains(message).doesNotContain("Traceback");
    }

    private JsonNode made(String action) {
        return sagemaker.calls().stream()
                .filter(call -> call.action().equals(action))
                .findFirst()
                .orElseThrow()
                .parameters();
    }

    private static List<String> actions(List<FakeSageMaker.Call> calls) {
        return calls.stream().map(FakeSageMaker.Call::action).toList();
    }

    private Run deploy(String... options) throws Exception {
        var command = new ArrayList<>(List.of(
                "docker",
                "run",
                "--rm",
                "--network",
                "host",
                "-v",
                DIRECTORY + ":/deploy:ro",
                DeployTools.IMAGE,
                "python3",
                "/deploy/deploy.py",
                "qa",
                "--image",
                "123456789012.dkr.ecr.eu-west-1.amazonaws.com/berth:cpu",
                "--artifact",
                "s3://my-bucket/model.tar.gz",
                "--role",
                ROLE,
                "--poll-seconds",
                "0",
                "--endpoint-url",
                "http://127.0.0.1:" + sagemaker.port()));
        command.addAll(List.of(options));
        var err = directory.resolve("err");
        var process = new ProcessBuilder(command).redirectError(err.toFile()).start();
        var out = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Run(process.waitFor(), out, Files.readString(err));
    }
}
