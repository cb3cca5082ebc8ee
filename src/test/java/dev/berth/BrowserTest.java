package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.BerthImage;
import dev.berth.testing.Browser;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeBlock;
import java.nio.file.Path;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// A real browser, with what it has for streams and sockets itself, asks the image.
@Tag("packaged")
class BrowserTest {

    private static final String PAGE = "http://localhost:8080/ping";
    private static final Pattern CONTENT = Pattern.compile("\"content\":\"([^\"]+)\"");

    @TempDir
    private Path directory;

    @BeforeAll
    static void buildTheImages() throws Exception {
        BerthImage.build();
        Browser.build();
    }

    /// Pastes into the console what the example's README says.
    @Test
    @Tag("STR-07")
    @Tag("BIDI-01")
    void itReadsTheEventsOfTheExampleAndTalksOverItsSocket() throws Exception {
        var example = Path.of("examples/text-generation");
        var scripts = CodeBlock.texts("js", example + "/README.md");
        assertThat(scripts).hasSize(2);
        try (var container = BerthImage.serving(example)) {
            container.start();
            BerthImage.awaitReady(container, 8080);
            try (var browser = Browser.beside(container)) {
                browser.open(PAGE);
                var read = 0;
                for (var script : scripts) {
                    browser.evaluate(script);
                    int from = read;
                    await().until(() -> browser.console().substring(from).contains("[DONE]"));
                    var text = CONTENT.matcher(browser.console().substring(from))
                            .results()
                            .map(MatchResult::group)
                            .map(content -> content.substring(11, content.length() - 1))
                            .collect(Collectors.joining());
                    assertThat(text).isEqualTo("1, 2, 3, 4, 5, 6, 7, 8, 9.");
                    read = browser.console().length();
                }
            }
        }
    }

    /// The stream has two billion parts, so what is read has come before the last one was made.
    @Test
    @Tag("STR-01")
    @Tag("STR-06")
    @Tag("BIDI-04")
    void itLeavesAStreamInTheMiddleAndSendsBytes() throws Exception {
        new CodeArtifact(directory)
                .file(
                        "code/Inference.java",
                        CodeBlock.texts("java", "docs/streaming.md").getFirst());
        try (var container = BerthImage.serving(directory)) {
            container.start();
            BerthImage.awaitReady(container, 8080);
            try (var browser = Browser.beside(container)) {
                browser.open(PAGE);
                var begun = browser.evaluate("""
            const leaving = new AbortController();
            const answer = await fetch("/invocations", {method: "POST", body: "2000000000", signal: leaving.signal,
              headers: {"Accept": "text/event-stream", "Content-Type": "text/plain"}});
            const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
            let read = "";
            while (!read.includes('"number":3}')) {
              read += (await reader.read()).value;
            }
            read
            """);
                assertThat(begun.asText()).startsWith("""
            data: {"record":0,"number":1}

            data: {"record":0,"number":2}

            data: {"record":0,"number":3}

            """);
                assertThat(streams(browser)).isEqualTo("1.0");
                browser.evaluate("leaving.abort()");
                await().until(() -> streams(browser).equals("0.0"));

                var frames = browser.evaluate("""
            const socket = new WebSocket("ws://localhost:8080/invocations-bidirectional-stream");
            socket.binaryType = "arraybuffer";
            const frames = [];
            socket.onopen = () => socket.send(new TextEncoder().encode("2"));
            await new Promise(done => {
              socket.onmessage = frame => {
                frames.push(new TextDecoder().decode(frame.data));
                if (frame.data.byteLength === 0) {
                  socket.close(1000);
                }
              };
              socket.onclose = close => { frames.push(close.code + " " + close.wasClean); done(); };
            });
            frames.join("|")
            """);
                assertThat(frames.asText())
                        .isEqualTo("{\"record\":0,\"number\":1}|{\"record\":0,\"number\":2}||1000 true");
            }
        }
    }

    private static String streams(Browser browser) throws Exception {
        return browser.evaluate("""
        (await (await fetch("/metrics")).text()).match(/berth_streams\\{model="model"\\} (\\S+)/)[1]
        """).asText();
    }
}
