package dev.berth;

import static dev.berth.testing.BerthImage.assertAnswers;
import static dev.berth.testing.BerthImage.assertEnds;
import static dev.berth.testing.BerthImage.awaitReady;
import static dev.berth.testing.BerthImage.err;
import static dev.berth.testing.BerthImage.exitCode;
import static dev.berth.testing.BerthImage.out;
import static dev.berth.testing.BerthImage.send;
import static dev.berth.testing.BerthImage.sendAsync;
import static dev.berth.testing.BerthImage.serving;
import static dev.berth.testing.BerthImage.signal;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.BerthImage;
import dev.berth.testing.CodeArtifact;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.containers.GenericContainer;

/// Containers of the image, started, asked from outside and stopped as SageMaker does it and as
/// people do.
@Tag("packaged")
class ContainerLifecycleTest {

    @BeforeAll
    static void buildTheImage() throws Exception {
        BerthImage.build();
    }

    @Test
    @Tag("RUN-01")
    @Tag("RUN-05")
    @Tag("OBS-01")
    void itAnswersFromOutsideAndWritesNothingButItsLog() throws Exception {
        try (var container = serving().withExposedPorts(8080)) {
            container.start();
            awaitReady(container, 8080);
            assertThat(send(container, 8080, "POST", "/invocations", BerthImage.BODY)
                            .body())
                    .contains("\"answer\":\"Bob\"");
            // The line is there while the server runs, and no line is anywhere else. /tmp has the JVM's
            // own counters.
            await().until(() -> out(container).contains("POST /invocations 200"));
            assertThat(err(container)).isEmpty();
            assertThat(container
                            .getDockerClient()
                            .containerDiffCmd(container.getContainerId())
                            .exec())
                    .allSatisfy(change -> assertThat(change.getPath()).startsWith("/tmp"));
        }
    }

    @Test
    @Tag("RUN-07")
    @Tag("RUN-08")
    void aRunningRequestIsAnsweredBeforeTheContainerStops(@TempDir Path artifact) throws Exception {
        CodeArtifact.plain(artifact, """
        public List<String> predictFn(List<String> records, Object model) throws InterruptedException {
          while (!java.nio.file.Files.exists(java.nio.file.Path.of("/tmp/now"))) { Thread.sleep(10); }
          return records;
        }
        """);
        try (var container = serving(artifact)
                .withExposedPorts(8080)
                // Some machines need a minute for what others do in two seconds.
                .withEnv(Map.of("BERTH_DRAIN_SECONDS", "300", "SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS", "300"))) {
            container.start();
            awaitReady(container, 8080);
            var running = sendAsync(container, 8080, "POST", "/invocations", "Bob came.");
            await().atMost(BerthImage.LONGEST)
                    .until(() -> send(container, 8080, "GET", "/metrics", "")
                            .body()
                            .contains("berth_queue_wait_seconds_count{model=\"model\"} 1"));
            // From inside, because Docker's proxy would accept any number on its own.
            // Each ends with 0 where the answer is 200.
            var connections = container.execInContainer("sh", "-c", """
          i=0
          while [ $i -lt 100 ]; do
            busybox wget -q -O - http://127.0.0.1:8080/ping && echo answered &
            i=$((i + 1))
          done
          wait""");
            assertThat(connections.getStdout().lines()).hasSize(100).containsOnly("answered");
            signal(container, "TERM");
            await().atMost(BerthImage.LONGEST).until(() -> out(container).contains("stopping"));
            assertThat(running).isNotDone();
            assertThat(container.execInContainer("busybox", "touch", "/tmp/now").getExitCode())
                    .isZero();
            assertThat(running.get().statusCode()).isEqualTo(200);
            assertThat(running.get().body()).isEqualTo("Bob came.");
            assertThat(exitCode(container)).isZero();
            assertThat(err(container)).isEmpty();
        }
    }

    @Test
    @Tag("RUN-06")
    void itServesAgainAfterItWasKilledAndStopsWhenItIsAskedTo() throws Exception {
        try (var container = serving()) {
            container.start();
            assertAnswers(container);
            signal(container, "KILL");
            assertThat(exitCode(container)).isEqualTo(137);
            container
                    .getDockerClient()
                    .startContainerCmd(container.getContainerId())
                    .exec();
            assertAnswers(container);
            // What `docker stop` does; the image names the signal.
            container
                    .getDockerClient()
                    .stopContainerCmd(container.getContainerId())
                    .withTimeout(30)
                    .exec();
            assertThat(exitCode(container)).isZero();
        }
    }

    @Test
    void withoutArgumentsAndWithoutAModelItShowsTheSample() throws Exception {
        try (var container = new GenericContainer<>(BerthImage.NAME).withStartupTimeout(BerthImage.LONGEST)) {
            container.start();
            assertAnswers(container);
        }
    }

    @Test
    @Tag("RUN-14")
    void aModelThatIsMissingOrBrokenEndsTheProcess(@TempDir Path artifact) throws Exception {
        assertEnds(new GenericContainer<>(BerthImage.NAME).withCommand("serve"), "/opt/ml/model");
        // A temporary directory is its owner's alone.
        assertEnds(
                serving(artifact).withCreateContainerCmdModifier(command -> command.withUser("12345")),
                "/opt/ml/model: found a directory that this user may not read");
        for (var name : List.of("model.json", "tokenizer.json")) {
            Files.copy(Path.of("model-artifact", name), artifact.resolve(name));
        }
        Files.writeString(artifact.resolve("model.pt"), "no TorchScript");
        assertEnds(serving(artifact), "model.pt");
    }
}
