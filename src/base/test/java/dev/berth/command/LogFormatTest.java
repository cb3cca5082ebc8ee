package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.Layout;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.CapturedLog;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

class LogFormatTest {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final Logger log = (Logger) LoggerFactory.getLogger("dev.berth.Some");

    @AfterEach
    void forgetIds() {
        MDC.clear();
    }

    /// One that is not made of plain characters stands in quotes, because it may look like a line.
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
      ``                        |       | ] [] Some - hello
      abc                       |       | ] [abc] Some - hello
      Az09._:/+=@-,b            |       | ] [Az09._:/+=@-,b] Some - hello
      abc                       | d e   | ] [abc "d e"] Some - hello
      ] ERROR Worker - x ends [ |       | ] ["] ERROR Worker - x ends ["] Some - hello
      a\\"] ERROR Worker - x    |       | ] ["a\\\\\\"] ERROR Worker - x"] Some - hello
      """)
    void aPlainLineHasTheIdsThatThereAre(String request, String inference, String line) throws Exception {
        MDC.put("request_id", request);
        if (inference != null) {
            MDC.put("inference_id", inference);
        }
        assertThat(encoded(new PlainEvents(), () -> log.info("hello"))).endsWith(line + "\n");
    }

    @ParameterizedTest
    @ValueSource(
            ints = {
                0, 7, 8, 0x1b, 0x7f, 0x80, 0x85, 0x9b, 0x9f, 0x061c, 0x200e, 0x200f, 0x2028, 0x2029, 0x202a, 0x202e,
                0x2066, 0x2069
            })
    void whatMovesOrHidesTextIsEscapedWhereverItStands(int unsafe) throws Exception {
        var text = "a" + (char) unsafe + "b";
        MDC.setContextMap(Map.of("request_id", text));
        var failure = new IllegalStateException(text, new IllegalArgumentException(text));
        failure.addSuppressed(new IllegalArgumentException(text));
        var line = encoded(
                new PlainEvents(), () -> LoggerFactory.getLogger("own." + text).error(text, failure));
        assertThat(line).doesNotContain(text).contains("[\"a\\u%04xb\"] a\\u%1$04xb - a\\u%1$04xb\n".formatted(unsafe));
        assertThat(line.split("a\\\\u%04xb".formatted(unsafe), -1)).hasSize(7);
    }

    @Test
    void textOfAllLanguagesStaysAsItIs() throws Exception {
        assertThat(encoded(new PlainEvents(), () -> log.info("Zoë 説明 \"x\" שלום \uD83D\uDE42")))
                .endsWith(" - Zoë 説明 \"x\" שלום \uD83D\uDE42\n");
        assertThat(encoded(new PlainEvents(), () -> log.info("a\tb\rc\nd\r\ne")))
                .endsWith(" - a\\tb\\rc\\nd\\ne\n");
    }

    @Test
    void theMessagesInAStackCantForgeALine() throws Exception {
        var failure = new IllegalStateException(
                "one\n2026-01-01T00:00:00.000Z ERROR forged", new IllegalArgumentException((String) null));
        var lines = encoded(new PlainEvents(), () -> log.error("failed", failure))
                .lines()
                .toList();
        assertThat(lines.get(1))
                .isEqualTo("java.lang.IllegalStateException: one\\n2026-01-01T00:00:00.000Z ERROR forged");
        assertThat(lines.subList(2, lines.size()))
                .allMatch(
                        line -> line.startsWith("\tat ") || line.startsWith("Caused by: ") || line.startsWith("\t... "))
                .anyMatch(line -> line.startsWith("\tat dev.berth.command.LogFormatTest"))
                .anyMatch(line -> line.startsWith("Caused by: java.lang.IllegalArgumentException"));
    }

    // One of the values is to be no String.
    @SuppressWarnings("UnnecessaryStringBuilder")
    @Test
    void aJsonLineHasIdsAndFieldsBesideTheMessage() throws Exception {
        MDC.setContextMap(Map.of("request_id", "abc", "level", "own"));
        var line = json(() -> log.atWarn()
                .addKeyValue("status", 400)
                .addKeyValue("total_ms", 1.5)
                .addKeyValue("route", "/invocations")
                .addKeyValue("own", new StringBuilder("text"))
                .addKeyValue("message", "own")
                .log("a \"b\"\n{}", "c"));
        assertThat(line).isEqualTo(JSON.readTree("""
        {"timestamp": "%s", "level": "WARN", "thread": "%s", "logger": "dev.berth.Some", "message": "a \\"b\\"\\nc",
         "request_id": "abc", "status": 400, "total_ms": 1.5, "route": "/invocations", "own": "text"}""".formatted(
                line.path("timestamp").textValue(), Thread.currentThread().getName())));
        assertThat(line.path("timestamp").textValue())
                .matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{3})?Z");
    }

    @Test
    void aJsonLineHasTheStack() throws Exception {
        var line = json(
                () -> log.error("failed", new IllegalStateException("outer", new IllegalArgumentException("inner"))));
        assertThat(line.path("stack").textValue())
                .startsWith("java.lang.IllegalStateException: outer")
                .contains("\tat dev.berth.command.LogFormatTest")
                .contains("Caused by: java.lang.IllegalArgumentException: inner");
    }

    private static JsonNode json(Runnable call) throws Exception {
        var text = encoded(new JsonEvents(), call);
        assertThat(text.lines()).hasSize(1);
        assertThat(text).endsWith("\n");
        return JSON.readTree(text);
    }

    private static String encoded(Layout<ILoggingEvent> layout, Runnable call) {
        try (var captured = new CapturedLog()) {
            call.run();
            return layout.doLayout(captured.events().getFirst());
        }
    }
}
