package dev.berth.authoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.junit.platform.engine.discovery.DiscoverySelectors.selectClass;

import dev.berth.testing.TestServer;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URL;
import java.net.URLClassLoader;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.platform.launcher.core.LauncherDiscoveryRequestBuilder;
import org.junit.platform.launcher.core.LauncherFactory;
import org.junit.platform.launcher.listeners.SummaryGeneratingListener;

/// What `serve init` writes, served and tested as its README says. `AuthoringCommandsTest` runs the
/// command.
class TemplateTest {

    @TempDir
    private Path directory;

    @ParameterizedTest
    @EnumSource(Template.class)
    void itIsServedAsItIsWritten(Template template) throws Exception {
        var artifact = Files.createDirectories(directory.resolve("new/artifact"));
        Files.createFile(artifact.resolve(".DS_Store"));
        var written = template.write(artifact, TestServer.SAMPLE_ARTIFACT);
        assertThat(written.missing()).isEmpty();
        assertThat(written.added())
                .contains("pom.xml", "code/Inference.java")
                .allSatisfy(file -> assertThat(artifact.resolve(file)).exists());
        try (var server = TestServer.artifact(artifact).start()) {
            var image = template == Template.IMAGE;
            var response = server.send(HttpRequest.newBuilder(server.uri("/invocations"))
                    .POST(BodyPublishers.ofFile(artifact.resolve(image ? "sample.png" : "sample.json")))
                    .header("Content-Type", image ? "application/x-image" : "application/json")
                    .build());
            assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
            if (template == Template.PICTURE) {
                assertThat(response.headers().firstValue("Content-Type")).contains("image/png");
                return;
            }
            assertThat(response.body())
                    .isEqualTo(
                            switch (template) {
                                case TEXT -> "{\"label\":\"positive\",\"score\":0.622}";
                                case STREAMING -> "{\"text\":\"the ship sails at dawn\"}";
                                case PICTURE -> throw new IllegalStateException("its bytes are no text");
                                case QA -> "{\"answers\":[{\"answer\":\"Warsaw\",\"sure\":true}]}";
                                case IMAGE -> "{\"predictions\":7}";
                                case TENSOR -> "{\"prices\":[520.0,270.0]}";
                                case RECOMMENDER -> "{\"films\":[\"Aliens\",\"Solaris\",\"Notorious\"]}";
                            });
        }
    }

    @ParameterizedTest
    @EnumSource(Template.class)
    void itsOwnTestPasses(Template template) throws Exception {
        template.write(directory, TestServer.SAMPLE_ARTIFACT);
        var classes = Files.createDirectory(directory.resolve("target"));
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (var files = compiler.getStandardFileManager(null, null, null)) {
            var sources = files.getJavaFileObjects(
                    directory.resolve("code/Inference.java"), directory.resolve("test/InferenceTest.java"));
            var options = List.of(
                    "-Xlint:all,-processing,-try",
                    "-Werror",
                    "-d",
                    classes.toString(),
                    "-classpath",
                    System.getProperty("java.class.path"));
            assertThat(compiler.getTask(null, files, null, options, null, sources)
                            .call())
                    .isTrue();
        }
        System.setProperty("artifact", directory.toString());
        try (var loader = new URLClassLoader(new URL[] {classes.toUri().toURL()})) {
            var summary = new SummaryGeneratingListener();
            LauncherFactory.create()
                    .execute(
                            LauncherDiscoveryRequestBuilder.request()
                                    .selectors(selectClass(loader.loadClass("InferenceTest")))
                                    .build(),
                            summary);
            var failures = new StringWriter();
            summary.getSummary().printFailuresTo(new PrintWriter(failures));
            assertThat(summary.getSummary().getTestsSucceededCount())
                    .as(failures.toString())
                    .isPositive();
            assertThat(summary.getSummary().getTotalFailureCount())
                    .as(failures.toString())
                    .isZero();
        } finally {
            System.clearProperty("artifact");
        }
    }

    @Test
    void withoutItsCodeTheModelNeedsNoSample() throws Exception {
        Template.TENSOR.write(directory, TestServer.SAMPLE_ARTIFACT);
        Files.delete(directory.resolve("code/Inference.java"));
        TestServer.artifact(directory)
                .assertDoesNotStart(
                        "sample.json: the model does not answer it: ",
                        "; correct the hooks or the sample, or delete it and sample-response.json");
        Files.delete(directory.resolve("sample.json"));
        Files.delete(directory.resolve("sample-response.json"));
        try (var server = TestServer.artifact(directory).start()) {
            assertThat(server.invoke("[[70, 3]]").body()).isEqualTo("[[520.0]]");
        }
    }

    @Test
    void thePomNamesThisVersionOfBerth() throws Exception {
        Template.TENSOR.write(directory, TestServer.SAMPLE_ARTIFACT);
        assertThat(Files.readString(directory.resolve("pom.xml")))
                .contains("<groupId>dev.berth</groupId>")
                .contains("<artifactId>berth-hooks</artifactId>", "<artifactId>berth</artifactId>")
                .doesNotContain("${project.");
    }

    @Test
    void whatIsThereAlreadyStays() throws Exception {
        var file = Files.writeString(directory.resolve("README.md"), "mine");
        var written = Template.TENSOR.write(directory, TestServer.SAMPLE_ARTIFACT);
        assertThat(written.added()).containsExactly("pom.xml", "code/Inference.java", "test/InferenceTest.java");
        assertThat(file).hasContent("mine");
        assertThat(directory.toFile().list()).containsExactlyInAnyOrder("README.md", "pom.xml", "code", "test");
        assertThat(Template.TENSOR.write(directory, TestServer.SAMPLE_ARTIFACT).added())
                .isEmpty();
        assertThatThrownBy(() -> Template.TENSOR.write(file, TestServer.SAMPLE_ARTIFACT))
                .isInstanceOf(FileAlreadyExistsException.class);
    }

    @Test
    void anArtifactWithHooksGetsNoOthers() throws Exception {
        Files.writeString(Files.createDirectory(directory.resolve("code")).resolve("Model.java"), "mine");
        assertThat(Template.RECOMMENDER
                        .write(directory, TestServer.SAMPLE_ARTIFACT)
                        .added())
                .containsExactly("pom.xml");
        assertThat(directory.resolve("code").toFile().list()).containsExactly("Model.java");
    }

    @Test
    void anInferencePyIsNoHook() throws Exception {
        Files.createFile(Files.createDirectory(directory.resolve("code")).resolve("inference.py"));
        assertThat(Template.TENSOR.write(directory, TestServer.SAMPLE_ARTIFACT).added())
                .contains("code/Inference.java", "test/InferenceTest.java");
    }

    @Test
    void withoutTheSampleItSaysWhatIsMissing() throws Exception {
        assertThat(Template.QA.write(directory, directory.resolve("no-sample")).missing())
                .containsExactly("model.json", "model.pt", "tokenizer.json", "sample-response.json");
    }
}
