package dev.berth.page;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The files of the page, and what it is told. `dev.berth.PageTest` looks at it in a browser.
class PageTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Pattern LINK = Pattern.compile("(?:href|src)=\"(page/[^\"]+)\"");
    private static final Pattern IMPORT = Pattern.compile("from \"\\./([^\"]+)\"");

    /// What the policy would stop.
    private static final Pattern INLINE =
            Pattern.compile("<style|<script(?![^>]* src=)|\\s(?:style|on[a-z]+)=|javascript:");

    @TempDir
    Path models;

    @Test
    void everythingThatThePagesNameIsThereAndNothingIsInline() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start()) {
            for (var path : List.of("/", "/docs")) {
                var page = server.get(path);
                assertThat(page.statusCode()).isEqualTo(200);
                assertThat(page.headers().firstValue("Content-Type")).hasValue("text/html;charset=utf-8");
                assertThat(page.headers().firstValue("X-Content-Type-Options")).hasValue("nosniff");
                assertThat(page.headers().firstValue("Content-Security-Policy").orElseThrow())
                        .startsWith("default-src 'none'; script-src 'self';")
                        .doesNotContain("unsafe");
                assertThat(page.body()).doesNotContainPattern(INLINE).doesNotContain("://");
                assertThat(LINK.matcher(page.body()).results().map(found -> found.group(1)))
                        .isNotEmpty()
                        .allSatisfy(link -> assertThat(server.get("/" + link).statusCode())
                                .as(link)
                                .isEqualTo(200));
            }
            assertThat(IMPORT.matcher(server.get("/page/page.js").body())
                            .results()
                            .map(found -> found.group(1)))
                    .hasSize(2)
                    .allSatisfy(file -> assertThat(server.get("/page/" + file).statusCode())
                            .as(file)
                            .isEqualTo(200));
            assertThat(server.get("/page/page.html").statusCode()).isEqualTo(404);
            assertThat(server.get("/page/..%2fOpenApi.class").statusCode()).isIn(400, 404);
            assertThat(server.invoke("a").statusCode()).isEqualTo(200);
        }
    }

    @Test
    void withoutItItsPathsAreNotThere() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start("BERTH_PAGE=false")) {
            for (var path : List.of("/", "/docs", "/openapi.json", "/page/models", "/page/page.js")) {
                assertThat(server.get(path).statusCode()).as(path).isEqualTo(404);
            }
        }
        try (var platform = TestServer.with(new TextHandler()).start("SAGEMAKER_REGION=eu-west-1")) {
            assertThat(platform.get("/").body())
                    .isEqualTo("{\"message\":\"\\\"/\\\": no such path\",\"type\":\"not_found\",\"code\":404}");
        }
    }

    @Test
    void itIsToldWhatThereIsToAskAndWhatWith() throws Exception {
        try (var server = TestServer.sample().start()) {
            var page = JSON.readTree(server.get("/page/models").body());
            assertThat(page.path("many").asBoolean()).isFalse();
            assertThat(page.path("metrics").asText()).isEqualTo("/metrics");
            var model = page.path("models").path(0);
            assertThat(page.path("models")).hasSize(1);
            assertThat(model.path("path").asText()).isEqualTo("/invocations");
            assertThat(model.path("state").asText()).isEqualTo("loaded");
            assertThat(model.path("device").asText()).isEqualTo("cpu");
            assertThat(model.path("streams").asBoolean()).isFalse();
            assertThat(model.path("sample"))
                    .isEqualTo(JSON.readTree("{\"name\": \"sample.json\", \"type\": \"application/json\"}"));
            assertThat(model.path("requestTypes").path(0).asText()).isEqualTo("application/json");
            assertThat(server.get("/page/sample").body())
                    .isEqualTo(Files.readString(TestServer.SAMPLE_ARTIFACT.resolve("sample.json")));
            assertThat(server.get("/page/sample?model=other").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void ofManyModelsEachHasItsOwnPathAndSample() throws Exception {
        Files.createSymbolicLink(models.resolve("a b"), TestServer.SAMPLE_ARTIFACT);
        Files.createDirectories(models.resolve("broken"));
        var large = Files.createDirectories(models.resolve("large"));
        Files.write(large.resolve("sample.json"), new byte[(4 << 20) + 1]);
        try (var server = TestServer.ofDirectory(models).start()) {
            var before = JSON.readTree(server.get("/page/models").body());
            assertThat(before.path("many").asBoolean()).isTrue();
            assertThat(before.path("models"))
                    .extracting(model -> model.path("name").asText())
                    .containsExactly("a b", "broken", "large");
            assertThat(before.path("models").findValuesAsText("state")).containsOnly("not loaded");
            assertThat(before.at("/models/0/path").asText()).isEqualTo("/models/a%20b/invoke");
            assertThat(server.get("/page/sample?model=a%20b").body()).contains("Marie Curie");
            assertThat(server.get("/page/sample?model=broken").statusCode()).isEqualTo(404);
            assertThat(server.get("/page/sample?model=large").body())
                    .contains("found 4194305 bytes, expected at most 4194304");

            assertStatus(server.ask("a b", "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}"), 200);
            assertThat(server.ask("broken", "{}").statusCode()).isEqualTo(500);
            var after = JSON.readTree(server.get("/page/models").body());
            assertThat(after.at("/models/0/state").asText()).isEqualTo("loaded");
            assertThat(after.at("/models/0/device").asText()).isEqualTo("cpu");
            assertThat(after.at("/models/1/state").asText()).isEqualTo("failed");
            assertThat(after.at("/models/1/problem").asText()).isNotEmpty();
        }
    }
}
