package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.encoder.Encoder;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.testing.CapturedLog;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.slf4j.MDC;

class LogFormatTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  private final Logger log = (Logger) LoggerFactory.getLogger("dev.berth.Some");

  @AfterEach
  void forgetIds() {
    MDC.clear();
  }

  @Test
  void aPlainLineHasTheIdsThatThereAre() throws Exception {
    assertThat(plain(Map.of())).contains("] Some - hello");
    assertThat(plain(Map.of("request_id", "abc"))).contains(" [abc] Some - hello");
    assertThat(plain(Map.of("request_id", "abc", "inference_id", "d e"))).contains(" [abc d e] Some - hello");
  }

  @Test
  void aPlainLineIsOneLine() throws Exception {
    assertThat(encoded(LogDefaults.plain(log.getLoggerContext()), () -> log.info("a\nb\r\nc")).lines())
        .singleElement().asString().endsWith("a\\nb\\nc");
  }

  @Test
  void aJsonLineHasIdsAndFieldsBesideTheMessage() throws Exception {
    MDC.setContextMap(Map.of("request_id", "abc", "level", "own"));
    var line = json(() -> log.atWarn()
        .addKeyValue("status", 400).addKeyValue("total_ms", 1.5).addKeyValue("route", "/invocations")
        .addKeyValue("own", new StringBuilder("text")).addKeyValue("message", "own").log("a \"b\"\n{}", "c"));
    assertThat(line).isEqualTo(JSON.readTree("""
        {"timestamp": "%s", "level": "WARN", "thread": "%s", "logger": "dev.berth.Some", "message": "a \\"b\\"\\nc",
         "request_id": "abc", "status": 400, "total_ms": 1.5, "route": "/invocations", "own": "text"}"""
        .formatted(line.path("timestamp").textValue(), Thread.currentThread().getName())));
    assertThat(line.path("timestamp").textValue()).matches("\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d{3})?Z");
  }

  @Test
  void aJsonLineHasTheStack() throws Exception {
    var line = json(() -> log.error("failed", new IllegalStateException("outer", new IllegalArgumentException("inner"))));
    assertThat(line.path("stack").textValue())
        .startsWith("java.lang.IllegalStateException: outer").contains("\tat dev.berth.command.LogFormatTest")
        .contains("Caused by: java.lang.IllegalArgumentException: inner");
  }

  private String plain(Map<String, String> ids) {
    MDC.setContextMap(ids);
    return encoded(LogDefaults.plain(log.getLoggerContext()), () -> log.info("hello"));
  }

  private static JsonNode json(Runnable call) throws Exception {
    var text = encoded(new JsonEvents(), call);
    assertThat(text.lines()).hasSize(1);
    assertThat(text).endsWith("\n");
    return JSON.readTree(text);
  }

  private static String encoded(Encoder<ILoggingEvent> encoder, Runnable call) {
    try (var captured = new CapturedLog()) {
      call.run();
      return new String(encoder.encode(captured.events().getFirst()), StandardCharsets.UTF_8);
    }
  }
}
