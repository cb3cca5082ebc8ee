package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ThrowableProxyUtil;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.error.ErrorType;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.NotAcceptableException;
import dev.berth.hooks.UnsupportedMediaTypeException;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Locale;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Every way in which a hook can fail, in each hook.
class FailuresTest {

    /// Fails in one hook on what is poison.
    private static TextHandler failing(String failing, Throwable failure) {
        return TextHandler.before(failing, lines -> {
            if (lines.stream().anyMatch("poison"::equalsIgnoreCase)) {
                throw failure;
            }
        });
    }

    static Stream<Arguments> failures() {
        return Stream.of("inputFn", "predictFn", "outputFn")
                .flatMap(hook -> Stream.of(
                        Arguments.of(hook, new BadInputException("line 1: 悪い"), 400, "line 1: 悪い"),
                        Arguments.of(hook, new UnsupportedMediaTypeException("not this"), 415, "not this"),
                        Arguments.of(hook, new NotAcceptableException("not that"), 406, "not that"),
                        Arguments.of(hook, new InsufficientMemoryException("no room"), 507, "no room"),
                        Arguments.of(hook, new OutOfMemoryError("heap"), 507, hook + " ran out of memory: heap"),
                        Arguments.of(hook, new StackOverflowError(), 500, hook + " failed: StackOverflowError"),
                        Arguments.of(hook, new IllegalStateException("boom"), 500, hook + " failed: boom"),
                        Arguments.of(hook, new IllegalArgumentException("odd"), 500, hook + " failed: odd"),
                        Arguments.of(hook, new IOException("disk"), 500, hook + " failed: disk"),
                        Arguments.of(hook, new AssertionError("never"), 500, hook + " failed: never")));
    }

    @ParameterizedTest
    @MethodSource("failures")
    @Tag("ERR-02")
    @Tag("ERR-04")
    @Tag("ERR-05")
    @Tag("ERR-06")
    void whatAHookThrowsChoosesTheStatusAndNobodyElseFails(String hook, Throwable failure, int status, String message)
            throws Exception {
        try (var server = TestServer.with(failing(hook, failure)).start("BERTH_MAX_BATCH_SIZE=8");
                var log = new CapturedLog()) {
            var neighbours =
                    Stream.generate(() -> server.invokeAsync("fine")).limit(5).toList();
            var response = server.invoke("poison");
            assertThat(response.statusCode()).isEqualTo(status);
            assertThat(response.headers().firstValue("Content-Type").orElseThrow())
                    .startsWith("application/json")
                    .containsIgnoringCase("charset=utf-8");
            assertThat(response.body())
                    .startsWith("{\"message\":\"" + message + "\"")
                    .doesNotContain("\tat ");
            assertThat(neighbours)
                    .allSatisfy(neighbour -> assertThat(neighbour.get().body()).isEqualTo("FINE"));
            assertThat(server.invoke("fine").body()).isEqualTo("FINE");
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            await().until(() -> log.text().contains("POST /invocations " + status));
            assertThat(log.text().contains("ERROR"))
                    .as("errors are those of the server")
                    .isEqualTo(status == 500 || status == 507);
            if (status == 500 || status == 507) {
                assertThat(log.text()).contains(failure.getClass().getName());
            }
        }
    }

    @Test
    @Tag("OBS-05")
    void theLineOfACallersMistakeSaysWhyWithoutThePayload() throws Exception {
        try (var server = TestServer.sample().start();
                var log = new CapturedLog()) {
            server.invoke("{\"question\": \"SECRET, expected SECRET\", \"context\": 7}");
            await().untilAsserted(() -> assertThat(log.events()).singleElement().satisfies(event -> {
                assertThat(event.getLevel()).isEqualTo(Level.INFO);
                assertThat(event.getFormattedMessage())
                        .matches("POST /invocations 400 in \\S+ ms: BAD_INPUT: context: expected a text")
                        .doesNotContain("SECRET");
                assertThat(event.getThrowableProxy()).isNull();
            }));
            server.invoke("SECRET");
            await().untilAsserted(() ->
                    assertThat(log.text()).contains("BAD_INPUT: body").doesNotContain("SECRET"));
        }
    }

    /// Whichever hook fails on it, alone or in a batch, and whatever it wraps.
    @ParameterizedTest
    @ValueSource(strings = {"inputFn", "predictFn", "outputFn"})
    void theStackOfAHooksFailureHasNoPayload(String hook) throws Exception {
        var failure = new IllegalStateException(
                "no number: SSN-078", new NumberFormatException("For input string: \"SSN-078\""));
        failure.addSuppressed(new IllegalArgumentException("SSN-078"));
        try (var server = TestServer.with(failing(hook, failure)).start();
                var log = new CapturedLog()) {
            var fine = server.invokeAsync("fine");
            assertThat(server.invoke("poison").body()).contains("no number: SSN-078");
            fine.join();
            await().until(() -> log.text().contains("POST /invocations 500"));
            assertThat(log.text())
                    .contains(
                            "INTERNAL: " + hook + " failed",
                            "java.lang.IllegalStateException (--log-level debug shows its message)",
                            "java.lang.NumberFormatException (--log");
            assertThat(log.events())
                    .filteredOn(event -> event.getThrowableProxy() != null)
                    .isNotEmpty()
                    .allSatisfy(event -> assertThat(ThrowableProxyUtil.asString(event.getThrowableProxy()))
                            .contains("\tat ", "java.lang.IllegalArgumentException (--log")
                            .doesNotContain("SSN"));
            assertThat(log.text()).doesNotContain("SSN");
        }
    }

    @Test
    void aLineHasItsRequestAsFields() throws Exception {
        try (var server = TestServer.with(new TextHandler()).start();
                var log = new CapturedLog()) {
            server.invoke("one\ntwo");
            await().untilAsserted(() -> assertThat(log.events()).singleElement().satisfies(event -> {
                assertThat(event.getFormattedMessage())
                        .matches("POST /invocations 200 in \\S+ ms: 2 records, "
                                + "decode \\S+ ms, queue \\S+ ms, predict \\S+ ms, encode \\S+ ms");
                assertThat(event.getKeyValuePairs())
                        .extracting(pair -> pair.key)
                        .containsExactlyInAnyOrder(
                                "route",
                                "method",
                                "status",
                                "total_ms",
                                "records",
                                "decode_ms",
                                "queue_ms",
                                "predict_ms",
                                "encode_ms");
                assertThat(event.getKeyValuePairs())
                        .extracting(pair -> pair.value)
                        .contains("/invocations", "POST", 200, 2);
                assertThat(event.getMDCPropertyMap()).containsEntry("model", "model");
            }));
            server.get("/no%20where?key=SECRET");
            await().untilAsserted(() -> assertThat(log.events().getLast().getKeyValuePairs())
                    .extracting(pair -> pair.value)
                    .contains("other", "GET", 404, "NOT_FOUND"));
            assertThat(log.text()).doesNotContain("SECRET");
        }
    }

    @Test
    @Tag("slow")
    @Tag("ERR-03")
    void aThousandFailuresLeaveNothingBehind() throws Exception {
        try (var server = TestServer.with(failing("predictFn", new IllegalStateException("boom")))
                .start()) {
            for (int i = 0; i < 1000; i++) {
                assertThat(server.invoke("poison").statusCode()).isEqualTo(500);
            }
            assertThat(server.get("/ping").statusCode()).isEqualTo(200);
            assertThat(server.get("/metrics").body()).contains("berth_queue_depth{model=\"model\"} 0.0");
            assertThat(server.invoke("fine").body()).isEqualTo("FINE");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"x", "\u0000", "\"", "界", "😀"})
    void aLongMessageIsCutToWhatSageMakerHandsOn(String unit) throws Exception {
        var body = new String(ErrorForm.PLAIN.body(ErrorType.BAD_INPUT, unit.repeat(5000)), StandardCharsets.UTF_8);
        assertThat(body.length()).isBetween(1000, 2048);
        assertThat(new ObjectMapper().readTree(body).path("message").asText())
                .startsWith(unit)
                .endsWith("…")
                .doesNotContain("\ufffd");
    }

    @ParameterizedTest
    @EnumSource(ErrorType.class)
    void everyTypeHasAnErrorStatusAndTheMessageStandsFirst(ErrorType type) {
        assertThat(type.status()).isBetween(400, 599);
        assertThat(new String(ErrorForm.PLAIN.body(type, "why"), StandardCharsets.UTF_8))
                .isEqualTo(
                        "{\"message\":\"why\",\"type\":\"%s\",\"code\":%d}",
                        type.code().toLowerCase(Locale.ROOT), type.status());
    }
}
