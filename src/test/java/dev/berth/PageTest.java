package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.BerthImage;
import dev.berth.testing.Browser;
import dev.berth.testing.CodeArtifact;
import dev.berth.testing.CodeBlock;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.containers.BindMode;
import org.testcontainers.containers.GenericContainer;

/// The page at `/`, in a real browser, of a container with one model and of one with many.
///
/// With `-Dberth.update.docs=true` the picture in the README is taken again.
@Tag("packaged")
class PageTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String PAGE = "http://localhost:8080/";
    private static final String HOSTILE = "<img src=x onerror=\"document.title='hit'\">";

    @TempDir
    private static Path models;

    private static GenericContainer<?> one;
    private static GenericContainer<?> many;
    private static Browser ofOne;
    private static Browser ofMany;

    @BeforeAll
    static void start() throws Exception {
        BerthImage.build();
        Browser.build();
        new CodeArtifact(models.resolve("counter"))
                .file(
                        "code/Inference.java",
                        CodeBlock.texts("java", "docs/streaming.md").getFirst());
        CodeArtifact.plain(
                models.resolve("echo"),
                "public List<String> inputFn(InvocationRequest request) throws IOException { return List.of(request.text()); }\n");
        one = BerthImage.serving().withEnv("BERTH_PAGE", "true");
        one.start();
        many = new GenericContainer<>(BerthImage.NAME)
                .withStartupTimeout(BerthImage.LONGEST)
                .withFileSystemBind(models.toAbsolutePath().toString(), "/models", BindMode.READ_ONLY)
                .withFileSystemBind(
                        Path.of("examples/mnist").toAbsolutePath().toString(), "/models/mnist", BindMode.READ_ONLY)
                .withFileSystemBind(
                        Path.of("examples/text-to-image").toAbsolutePath().toString(),
                        "/models/painter",
                        BindMode.READ_ONLY)
                .withEnv("BERTH_PAGE", "true")
                .withCommand("serve", "--models", "/models");
        Files.createDirectories(models.resolve("mnist"));
        Files.createDirectories(models.resolve("painter"));
        many.start();
        BerthImage.awaitReady(one, 8080);
        BerthImage.awaitReady(many, 8080);
        ofOne = Browser.beside(one);
        ofMany = Browser.beside(many);
    }

    @AfterAll
    static void stop() throws IOException {
        try (var _ = one;
                var _ = many;
                var _ = ofOne;
                var _ = ofMany) {
            // The browsers first, which share the networks of the containers.
        }
    }

    @BeforeEach
    void open() throws Exception {
        for (var browser : List.of(ofOne, ofMany)) {
            browser.show(1200, 1000, false);
            browser.open("about:blank");
            browser.open(PAGE);
        }
        until(() -> ofOne.evaluate("document.querySelector('#question').value !== ''")
                .asBoolean());
        until(() -> ofMany.evaluate("document.querySelector('#model').options.length === 4")
                .asBoolean());
    }

    @Test
    void theSampleIsAnsweredAndTheAnswerIsMarked() throws Exception {
        ofOne.click("#ask");
        until(() -> "Warsaw".equals(ofOne.text("#answer mark")));
        assertThat(ofOne.text("#answer .context"))
                .isEqualTo("Marie Curie was born in Warsaw. She discovered radium and polonium in Paris.");
        assertThat(ofOne.text("#status")).matches("Warsaw · 200 in .*s");
        assertThat(ofOne.text("#models")).contains("loaded").contains("cpu");
        // The metrics are read every 2 s.
        until(() -> !ofOne.text("#latency b").equals("p50 –"));
        assertThat(ofOne.problems()).isEmpty();
    }

    /// Offsets count code points, of which JavaScript takes some for two characters.
    @Test
    void theCommandSaysWhatWasAskedToAnyShell() throws Exception {
        var context = "😀 Bob's \"friend\" came, `id` $HOME \\ 😀 and Ada came.";
        ask("Who came?", context);
        until(() -> ofOne.text("#answer mark") != null);
        var answer = JSON.readTree(ofOne.evaluate("document.querySelector('#response').textContent")
                .asText());
        assertThat(ofOne.text("#answer mark")).isEqualTo(answer.path("answer").asText());
        var command =
                ofOne.evaluate("document.querySelector('#curl').textContent").asText();
        var shell = new ProcessBuilder("sh", "-c", "curl() { printf '%s\\0' \"$@\"; }\n" + command).start();
        var arguments = new String(shell.getInputStream().readAllBytes(), StandardCharsets.UTF_8).split("\0");
        assertThat(arguments)
                .startsWith(
                        "-s",
                        "http://localhost:8080/invocations",
                        "-H",
                        "Content-Type: application/json",
                        "--data-raw");
        assertThat(JSON.readTree(arguments[5]))
                .isEqualTo(JSON.valueToTree(Map.of("question", "Who came?", "context", context)));
    }

    @Test
    void textsOfRequestsAndAnswersStayTexts() throws Exception {
        ask(HOSTILE, "Bob " + HOSTILE + " came.");
        until(() -> ofOne.text("#answer .context") != null);
        assertThat(ofOne.text("#answer .context")).isEqualTo("Bob " + HOSTILE + " came.");
        assertNothingRan(ofOne);
        choose("echo");
        for (var body : List.of(
                JSON.writeValueAsString(Map.of("answer", HOSTILE, "score", 1)),
                JSON.writeValueAsString(List.of(Map.of("label", HOSTILE, "score", 0.5))),
                JSON.writeValueAsString(Map.of("generated_text", HOSTILE)))) {
            ofMany.evaluate("document.querySelector('#body').value = " + JSON.writeValueAsString(body));
            ofMany.evaluate("document.querySelector('#answer').replaceChildren()");
            ofMany.click("#ask");
            until(() -> ofMany.text("#answer").contains("onerror"));
            assertNothingRan(ofMany);
        }
    }

    private static void assertNothingRan(Browser browser) throws Exception {
        assertThat(browser.evaluate("document.querySelectorAll('main img:not(#preview)').length")
                        .asInt())
                .isZero();
        assertThat(browser.evaluate("document.title").asText()).isEqualTo("Berth");
        assertThat(browser.problems()).isEmpty();
    }

    @Test
    void theKeyboardIsEnough() throws Exception {
        var reached = new ArrayList<String>();
        while (reached.isEmpty() || !reached.getLast().equals("load")) {
            ofOne.press("Tab", "", false);
            reached.add(ofOne.evaluate("document.activeElement.id || document.activeElement.textContent")
                    .asText());
            if (reached.getLast().equals("question")) {
                ofOne.press("a", "", true);
                ofOne.type("What did Marie Curie discover?");
            }
        }
        assertThat(reached)
                .containsExactly(
                        "Skip to the form",
                        "API",
                        "OpenAPI",
                        "metrics",
                        "question",
                        "context",
                        "accept",
                        "ask",
                        "raw",
                        "load");
        ofOne.evaluate("document.querySelector('#ask').focus()");
        ofOne.press("Enter", "\r", false);
        until(() -> ofOne.text("#answer mark") != null);
        assertThat(ofOne.text("#answer mark")).startsWith("radium");
    }

    @Test
    void anErrorSaysWhatIsWrong() throws Exception {
        ofOne.click("#raw");
        ofOne.evaluate("document.querySelector('#body').value = '{\"question\": 1}'");
        ofOne.click("#ask");
        until(() -> !ofOne.text("#problem").isEmpty());
        assertThat(ofOne.text("#problem")).contains("question: found").contains("expected");
        assertThat(ofOne.text("#status")).startsWith("400 in ");
    }

    @Test
    void itFitsAPhoneAndIsDarkWhereThatIsPreferred() throws Exception {
        var light = ofOne.evaluate("getComputedStyle(document.body).backgroundColor")
                .asText();
        ofOne.show(360, 800, true);
        ofOne.click("#ask");
        until(() -> ofOne.text("#answer mark") != null);
        assertThat(ofOne.evaluate("getComputedStyle(document.body).backgroundColor")
                        .asText())
                .isNotEqualTo(light);
        assertThat(ofOne.evaluate("document.documentElement.scrollWidth").asInt())
                .isLessThanOrEqualTo(360);
    }

    @Test
    void itKeepsNobodyOut() throws Exception {
        String axe;
        try (var source = PageTest.class.getResourceAsStream("/axe.min.js")) {
            axe = new String(source.readAllBytes(), StandardCharsets.UTF_8);
        }
        ofOne.click("#ask");
        until(() -> ofOne.text("#answer mark") != null);
        choose("mnist");
        for (var browser : List.of(ofOne, ofMany)) {
            browser.evaluate(axe + "\n0");
            for (boolean dark : List.of(false, true)) {
                browser.show(1200, 1000, dark);
                assertThat(browser.evaluate("JSON.stringify((await axe.run()).violations, null, 1)")
                                .asText())
                        .isEqualTo("[]");
            }
        }
    }

    /// The stream has two billion parts, so what is shown has come before the last one was made.
    @Test
    void aStreamIsShownWhileItComes() throws Exception {
        choose("counter");
        ofMany.evaluate(
                "document.querySelector('#type').value = 'text/plain'; document.querySelector('#body').value = '2'");
        ofMany.click("#ask");
        // It is loaded now, so that its types are known.
        until(() -> ofMany.text("#ask").equals("Ask")
                && ofMany.text("#status").contains("200 in")
                && ofMany.evaluate("document.querySelector('#accept').value")
                        .asText()
                        .equals("text/event-stream"));
        ofMany.evaluate(
                "document.querySelector('#type').value = 'text/plain'; document.querySelector('#body').value = '2000000000'");
        ofMany.click("#ask");
        until(() -> ofMany.text("#answer").contains("\"number\":3}"));
        assertThat(ofMany.text("#status")).isEqualTo("Answering …");
        ofMany.click("#ask");
        until(() -> ofMany.text("#status").equals("Stopped"));
        assertThat(ofMany.text("#ask")).isEqualTo("Ask");
        assertThat(ofMany.text("#curl")).startsWith("curl -sN 'http://localhost:8080/models/counter/invoke'");
    }

    @Test
    void picturesGoInAndComeOut() throws Exception {
        choose("mnist");
        until(() -> ofMany.evaluate("document.querySelector('#preview').naturalWidth > 0")
                .asBoolean());
        ofMany.click("#ask");
        until(() -> ofMany.text("#answer").contains("\"predictions\": "));
        choose("painter");
        ofMany.click("#ask");
        until(() -> ofMany.evaluate("document.querySelector('#answer img')?.naturalWidth > 0")
                .asBoolean());
        assertThat(ofMany.text("#models")).contains("echo").contains("not loaded");
        assertThat(ofMany.problems()).isEmpty();
    }

    @Test
    void aLoadThatFailsSaysHowOftenAndWhy() throws Exception {
        ofOne.evaluate("document.querySelector('#question').value = ''");
        ofOne.click("#load");
        until(() -> ofOne.text("#status").contains(" in "));
        assertThat(ofOne.text("#status")).startsWith("8 × 400 in ");
        assertThat(ofOne.text("#problem")).startsWith("question: found \"\", expected a text");
        until(() -> ofOne.text("#throughput").matches("(?s).*\\b(?!0\\.0 )[0-9.]+ failed.*"));
        assertThat(ofOne.problems()).noneMatch(problem -> !problem.contains("400"));
    }

    @Test
    void swaggerShowsTheRoutesAndAsksThem() throws Exception {
        ofOne.open(PAGE + "docs");
        until(() -> ofOne.evaluate("document.querySelectorAll('.opblock').length >= 14")
                .asBoolean());
        assertThat(ofOne.problems()).isEmpty();
        ofOne.click("[id$='-getPing'] .opblock-summary-control, .opblock-summary-control[aria-label*='ping']");
        until(() -> ofOne.text(".try-out__btn") != null);
        ofOne.click(".try-out__btn");
        until(() -> ofOne.text(".execute") != null);
        ofOne.click(".execute");
        until(() -> ofOne.text(".live-responses-table .response-col_status") != null);
        assertThat(ofOne.text(".live-responses-table .response .response-col_status"))
                .startsWith("200");
    }

    @Test
    void itsPictureIsSmallEnoughForTheReadme() throws Exception {
        ofOne.show(1200, 1000, false);
        boolean update = Boolean.getBoolean("berth.update.docs");
        ofOne.click("#ask");
        until(() -> ofOne.text("#answer mark") != null);
        if (update) {
            ofOne.click("#load");
            until(() ->
                    ofOne.evaluate("document.querySelector('#load').disabled").asBoolean());
            until(() ->
                    !ofOne.evaluate("document.querySelector('#load').disabled").asBoolean());
        }
        ofOne.evaluate("document.activeElement.blur(); scrollTo(0, 0)");
        var picture = ofOne.picture();
        assertThat(picture).hasSizeBetween(20_000, 150_000);
        if (update) {
            Files.write(Path.of("docs/page.png"), picture);
        }
    }

    private static void ask(String question, String context) throws IOException {
        for (var field : List.of(Map.entry("#question", question), Map.entry("#context", context))) {
            ofOne.click(field.getKey());
            ofOne.press("a", "", true);
            ofOne.type(field.getValue());
        }
        ofOne.click("#ask");
    }

    /// Waits until the form is that of the model.
    private static void choose(String model) throws IOException {
        ofMany.evaluate("""
        {
          const list = document.querySelector("#model");
          list.value = "%s";
          list.dispatchEvent(new Event("change"));
        }
        """.formatted(model));
        until(() -> ofMany.text("#health").startsWith(model + " ")
                && !ofMany.evaluate("document.querySelector('#ask').disabled").asBoolean());
    }

    private static void until(Callable<Boolean> condition) {
        await().atMost(BerthImage.LONGEST).until(condition);
    }
}
