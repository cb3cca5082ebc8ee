package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.content.InlineHooks;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.testing.Gate;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentSkipListSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.slf4j.MDC;

/// Hooks that run on the request's own thread do what those on a thread of their own do.
@Timeout(120)
class InlineHooksTest {

    /// The only core of a machine is left to others.
    private static final String INLINE = Runtime.getRuntime().availableProcessors() > 1 ? "request" : "hook";

    private static final String INPUT = "inputFn berth-" + INLINE;
    private static final String OUTPUT = "outputFn berth-" + INLINE;

    /// Tells where its hooks run, and fails where a record says so.
    private static final class Quick extends TextHandler implements InlineHooks<Object, String, String> {

        final Set<String> threads = new ConcurrentSkipListSet<>();
        final Set<String> ids = new ConcurrentSkipListSet<>();
        final Gate gate = new Gate(1);

        @Override
        public boolean isInputShort(InvocationRequest request) {
            return request.contentType().subtype().equals("csv");
        }

        @Override
        public boolean isOutputShort(List<String> predictions) {
            return predictions.stream().mapToInt(String::length).sum() <= 20;
        }

        @Override
        protected void enter(String hook, List<String> lines) {
            if (hook.equals("modelFn")) {
                return;
            }
            threads.add(hook + " " + Thread.currentThread().getName().replaceFirst("-\\d+$", ""));
            if (!hook.equals("predictFn")) {
                ids.add(Optional.ofNullable(MDC.get("request_id")).orElse("none"));
            }
            if (hook.equals("inputFn") && lines.contains("bad")) {
                throw new BadInputException("line: found bad, expected good");
            }
            if (hook.equals("predictFn") && lines.contains("wait")) {
                pass();
            }
            if (lines.stream().anyMatch(hook::equalsIgnoreCase)) {
                throw new IllegalStateException("on purpose");
            }
        }

        private void pass() {
            try {
                gate.pass();
            } catch (InterruptedException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    @ParameterizedTest
    @CsvSource({
        "12345678901234567890, text/csv, inline, inline",
        "123456789012345678901, text/csv, inline, hook",
        "short, text/plain, hook, hook",
    })
    void theHandlerSaysWhereHooksRun(String body, String type, String input, String output) throws Exception {
        var handler = new Quick();
        try (var server = TestServer.with(handler).start()) {
            var answer = server.invoke(body, "Content-Type", type, "Accept", TextHandler.TEXT);
            assertThat(answer.body()).isEqualTo(body.toUpperCase(Locale.ROOT));
            assertThat(handler.threads)
                    .containsExactly(
                            "inputFn berth-" + input.replace("inline", INLINE),
                            "outputFn berth-" + output.replace("inline", INLINE),
                            "predictFn berth-worker");
            assertThat(handler.ids)
                    .containsExactly(answer.headers()
                            .firstValue(RequestLog.REQUEST_ID_HEADER)
                            .orElseThrow());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "bad, 400, 'line: found bad, expected good'",
        "inputFn, 500, inputFn failed",
        "predictFn, 500, predictFn failed",
        "outputFn, 500, outputFn failed",
    })
    void aHookThatFailsFailsItsOwnRequest(String body, int status, String message) throws Exception {
        var handler = new Quick();
        try (var server = TestServer.with(handler).start()) {
            assertStatus(server.invoke(body, "Content-Type", "text/csv"), status, message);
            assertThat(server.invoke("good", "Content-Type", "text/csv").body()).isEqualTo("GOOD");
            assertThat(handler.threads)
                    .contains(INPUT, OUTPUT)
                    .filteredOn(thread -> thread.startsWith("inputFn"))
                    .hasSize(1);
        }
    }

    @Test
    void theDeadlineHoldsWhileTheModelPredicts() throws Exception {
        var handler = new Quick();
        try (var server = TestServer.with(handler).start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=1")) {
            assertStatus(
                    server.invoke("wait", "Content-Type", "text/csv"),
                    504,
                    "the request's time ran out while predictFn");
            assertThat(handler.threads).contains(INPUT);
            handler.gate.open();
            await().untilAsserted(() -> assertThat(
                            server.invoke("b", "Content-Type", "text/csv").body())
                    .isEqualTo("B"));
        }
    }
}
