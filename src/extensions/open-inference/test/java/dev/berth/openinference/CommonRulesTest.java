package dev.berth.openinference;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.CodeArtifact;
import dev.berth.testing.ModelNames;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import dev.berth.testing.UnreadBodies;
import java.io.ByteArrayOutputStream;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.zip.DeflaterOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/// What the server does with bodies and names on all routes, it does on those of `/v2`.
class CommonRulesTest {

    @Test
    void aBodyThatNobodyReadsClosesItsConnectionUnlessItIsThere() throws Exception {
        var badLength = "POST /v2/models/model/infer|Inference-Header-Content-Length: x";
        try (var server = TestServer.with(new TextHandler()).start()) {
            UnreadBodies.assertClosed(server, badLength, 4, 400);
            UnreadBodies.assertClosed(server, "POST /v2/models/another/infer", 4, 404);
            UnreadBodies.assertRead(server, badLength, 4, 400);
        }
    }

    @ParameterizedTest
    @Tag("MME-18")
    @MethodSource("dev.berth.testing.ModelNames#all")
    void aModelOfAnyNameHasItsPaths(String name, @TempDir Path directory) throws Exception {
        var artifact = CodeArtifact.hooks(directory, "").directory();
        try (var server = TestServer.ofModels().start()) {
            assertThat(server.load(name, artifact).statusCode()).isEqualTo(200);
            var path = "/v2/models/" + ModelNames.encoded(name);
            assertThat(server.get(path).statusCode()).isEqualTo(200);
            assertThat(server.get(path + "/ready").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void aBodyMayBeCompressed() throws Exception {
        var body = """
        {"inputs": [{"name": "content", "datatype": "BYTES", "shape": [1], "data": ["ab"],
                     "parameters": {"content_type": "text/plain"}}]}""";
        var packed = new ByteArrayOutputStream();
        try (var deflater = new DeflaterOutputStream(packed)) {
            deflater.write(body.getBytes(StandardCharsets.UTF_8));
        }
        try (var server = TestServer.with(new TextHandler()).start()) {
            var request =
                    HttpRequest.newBuilder(server.uri("/v2/models/model/infer")).header("Content-Encoding", "deflate");
            assertThat(server.send(request.POST(BodyPublishers.ofByteArray(packed.toByteArray()))
                                    .build())
                            .body())
                    .contains("\"AB\"");
            var damaged = server.send(
                    request.POST(BodyPublishers.ofByteArray(new byte[9])).build());
            assertThat(damaged.statusCode()).isEqualTo(400);
            assertThat(damaged.body()).startsWith("{\"error\":\"body: it is not whole deflate");
        }
    }
}
