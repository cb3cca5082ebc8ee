package dev.berth.http;

import static dev.berth.testing.TestServer.assertStatus;
import static dev.berth.testing.TestServer.session;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.testing.Gate;
import dev.berth.testing.HookProbe;
import dev.berth.testing.RememberingHandler;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Sessions of callers as SageMaker has them: a header, and bodies that open and close.
class SessionTest {

    private static final String ID = "X-Amzn-SageMaker-Session-Id";
    private static final String NEW_ID = "X-Amzn-SageMaker-New-Session-Id";
    private static final String CLOSED_ID = "X-Amzn-SageMaker-Closed-Session-Id";
    private static final String OPEN = "{\"requestType\":\"NEW_SESSION\"}";
    private static final String CLOSE = "{\"requestType\":\"CLOSE\"}";

    /// The API's own, `NewSessionResponseHeader`.
    private static final String PATTERN =
            "^[a-zA-Z0-9](-*[a-zA-Z0-9])*;\\sExpires=\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\dZ$";

    private static final Duration LONG = Duration.ofMinutes(20);

    private final RememberingHandler remembering = new RememberingHandler(LONG);

    @AutoClose
    private TestServer server;

    @Test
    @Tag("SES-01")
    @Tag("SES-02")
    void aSessionIsOpenedWithAnIdAndWhenItExpires() throws Exception {
        server = TestServer.with(remembering).start();
        var response = server.invoke(OPEN, ID, "NEW_SESSION");

        assertThat(response.statusCode()).isEqualTo(200);
        var value = response.headers().firstValue(NEW_ID).orElseThrow();
        assertThat(response.headers().firstValue(ID)).hasValue(value);
        assertThat(value).matches(PATTERN).hasSizeLessThanOrEqualTo(256);
        var expires = Instant.parse(value.substring(value.indexOf('=') + 1));
        assertThat(expires)
                .isBetween(
                        Instant.now().plus(LONG).minusSeconds(30), Instant.now().plus(LONG));
        assertThat(response.body()).contains(value.split(";")[0]);
    }

    /// For 20 minutes, or longer than nanoseconds count.
    @ParameterizedTest
    @ValueSource(strings = {"PT20M", "P200000D"})
    @Tag("SES-03")
    void requestsOfASessionShareWhatItRemembers(Duration idle) throws Exception {
        server = TestServer.with(new RememberingHandler(idle)).start();
        var one = open(server);
        var two = open(server);

        assertThat(ask(server, one, "a").body()).isEqualTo("A");
        assertThat(ask(server, two, "x").body()).isEqualTo("X");
        assertThat(ask(server, one, "b").body()).isEqualTo("A,B");
        assertThat(server.invoke("c", "Content-Type", "text/plain").body()).isEqualTo("C");
        assertThat(server.get("/metrics").body()).contains("berth_sessions{model=\"model\"} 2.0");
    }

    @Test
    void aBodyForTheHooksOpensASessionAndIsAnsweredInIt() throws Exception {
        server = TestServer.with(remembering).start();
        var response = server.invoke("a", ID, "NEW_SESSION", "Content-Type", "text/plain");

        assertThat(response.body()).isEqualTo("A");
        var value = response.headers().firstValue(NEW_ID).orElseThrow();
        assertThat(value).matches(PATTERN);
        assertThat(ask(server, value.split(";")[0], "b").body()).isEqualTo("A,B");
    }

    @Test
    void aSessionWhoseFirstRequestFailsIsClosed() throws Exception {
        var handler = new RememberingHandler(LONG) {
            @Override
            public List<String> inputFn(InvocationRequest request) {
                throw new BadInputException("text: found nothing, expected a word");
            }
        };
        server = TestServer.with(handler).start();
        var response = server.invoke("a", ID, "NEW_SESSION", "Content-Type", "text/plain");

        assertThat(response.statusCode()).isEqualTo(400);
        assertThat(response.headers().firstValue(NEW_ID)).isEmpty();
        await().until(() -> handler.closed() == 1);
        assertThat(server.get("/metrics").body())
                .contains("berth_sessions_closed_total{model=\"model\",reason=\"failed\"} 1.0");
    }

    @Test
    @Tag("SES-04")
    @Tag("SES-05")
    void aClosedSessionIsFreedAndItsIdIsRejectedAsIsThatOfAnotherServer() throws Exception {
        server = TestServer.with(remembering).start();
        try (var other = TestServer.with(remembering).start()) {
            var id = open(server);

            assertThat(ask(server, id, CLOSE + "{}").headers().firstValue(CLOSED_ID))
                    .as("what has more than that is for the hooks")
                    .isEmpty();
            var response = server.invoke(CLOSE, ID, id);

            assertThat(response.statusCode()).isEqualTo(200);
            assertThat(response.headers().firstValue(CLOSED_ID)).hasValue(id);
            assertThat(remembering.closed()).isEqualTo(1);
            assertStatus(ask(server, id, "a"), 400, "is not open here");
            assertStatus(server.invoke(CLOSE, ID, id), 400, "is not open here");
            assertStatus(ask(server, open(other), "a"), 400, "is not open here");
        }
    }

    @Test
    @Tag("SES-05")
    void aSessionThatIsNotUsedExpires() throws Exception {
        var handler = new RememberingHandler(Duration.ofSeconds(1));
        server = TestServer.with(handler).start();
        var id = open(server);

        await().until(() -> handler.closed() == 1);

        assertStatus(ask(server, id, "a"), 400, "has expired");
        assertThat(server.get("/metrics").body())
                .contains(
                        "berth_sessions_closed_total{model=\"model\",reason=\"expired\"} 1.0",
                        "berth_sessions{model=\"model\"} 0.0");
    }

    @ParameterizedTest
    @ValueSource(strings = {"NEW_SESSION", "0f8fad5b-d9cb-469f-a165-70867728950e"})
    @Tag("SES-06")
    void aModelWithoutSessionsRejectsThem(String id) throws Exception {
        server = TestServer.with(new TextHandler()).start();
        assertStatus(server.invoke(OPEN, ID, id), 400, "have no sessions");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
      NEW_SESSION | {"requestType": "NEW_SESSION", "x": 1} | found 2 members
      NEW_SESSION | {"requestType": "CLOSE"}               | expected the id of a session
      abc         | {"requestType": "CLOSE", "x": 1}       | found 2 members
      abc         | {"requestType": "NEW_SESSION"}         | expected NEW_SESSION
      a_b         | a                                      | expected NEW_SESSION or the id
      -ab         | a                                      | expected NEW_SESSION or the id
      """)
    @Tag("SES-07")
    void whatTheProtocolDoesNotHaveIsRejected(String id, String body, String message) throws Exception {
        server = TestServer.with(remembering).start();
        assertStatus(server.invoke(body, ID, id), 400, message);
        assertThat(remembering.opened()).isZero();
    }

    @Test
    void requestsOfOneSessionTakeTurns() throws Exception {
        server = TestServer.with(remembering).start();
        var id = open(server);

        var answers = IntStream.range(0, 50)
                .mapToObj(i -> server.invokeAsync("a", ID, id, "Content-Type", "text/plain"))
                .toList();

        assertThat(answers).extracting(answer -> answer.join().statusCode()).containsOnly(200);
        assertThat(ask(server, id, "b").body()).isEqualTo("A,".repeat(50) + "B");
    }

    @Test
    @Tag("slow")
    void aRequestWaitsForItsTurnUntilItsOwnDeadlineAndOthersDoNot() throws Exception {
        var gate = new Gate(1);
        var handler = new RememberingHandler(LONG) {
            @Override
            public List<String> predictFn(List<String> records, Object model) throws Exception {
                if (records.contains("slow")) {
                    gate.passWhateverInterrupts();
                }
                return super.predictFn(records, model);
            }
        };
        server = TestServer.with(handler)
                .start("SAGEMAKER_MODEL_SERVER_TIMEOUT_SECONDS=2", "SAGEMAKER_MODEL_SERVER_WORKERS=2");
        var id = open(server);
        var slow = server.invokeAsync("slow", ID, id, "Content-Type", "text/plain");
        gate.awaitArrival();

        var second = ask(server, id, "a");
        assertStatus(second, 504, "another request was in its session");
        assertThat(ask(server, open(server), "b").body()).isEqualTo("B");
        assertThat(slow.join().statusCode()).isEqualTo(504);

        // The hook was left behind in the session, which nobody else enters or frees before it has
        // ended.
        assertThat(handler.closed()).isZero();
        gate.open();
        await().untilAsserted(() ->
                assertThat(server.invoke(CLOSE, ID, id).statusCode()).isEqualTo(200));
        assertThat(handler.closed()).isEqualTo(1);
    }

    @Test
    void beyondTheMostSessionsANewOneIsRejected() throws Exception {
        server = TestServer.with(remembering).start("BERTH_MAX_SESSIONS=2");
        var id = open(server);
        open(server);

        var refused = server.invoke(OPEN, ID, "NEW_SESSION");

        assertThat(refused.statusCode()).isEqualTo(503);
        assertThat(refused.headers().firstValue("Retry-After")).isPresent();
        assertThat(refused.body()).contains("2 sessions are open, and max-sessions allows no more");
        assertThat(server.invoke(CLOSE, ID, id).statusCode()).isEqualTo(200);
        open(server);
    }

    @Test
    void theSessionThatWasNotUsedForLongestMakesWayWhenTheyGrow() throws Exception {
        server = TestServer.with(remembering).start("BERTH_SESSION_MEMORY_MB=1");
        var old = open(server);
        var used = open(server);
        assertThat(ask(server, old, "a".repeat(300_000)).statusCode()).isEqualTo(200);
        assertThat(ask(server, used, "a".repeat(600_000)).statusCode()).isEqualTo(200);

        assertThat(ask(server, used, "a".repeat(200_000)).statusCode()).isEqualTo(200);

        await().until(() -> remembering.closed() == 1);
        assertStatus(ask(server, old, "b"), 400, "is not open here");
        assertThat(ask(server, used, "b").statusCode()).isEqualTo(200);
        assertThat(server.get("/metrics").body()).contains("reason=\"memory\"} 1.0");
    }

    @Test
    @Tag("slow")
    void hooksThatNeverSayWhatASessionTakesKeepNobodyFromAnAnswer() throws Exception {
        HookProbe.reset();
        var handler = new RememberingHandler(LONG) {
            @Override
            public long sessionBytes(Notes notes) {
                long bytes = super.sessionBytes(notes);
                // One byte: it was opened right now.
                if (bytes > 1) {
                    HookProbe.spin();
                }
                return bytes;
            }
        };
        server = TestServer.with(handler).start();
        for (int i = 0; i <= Runtime.getRuntime().availableProcessors(); i++) {
            assertThat(ask(server, open(server), "a").body()).isEqualTo("A");
        }
        assertThat(server.get("/ping").statusCode()).isEqualTo(200);
    }

    @Test
    void aHookThatFailsToOpenFailsItsRequestOnly() throws Exception {
        var handler = new RememberingHandler(LONG) {
            @Override
            public Notes openSession(InvocationRequest request) throws Exception {
                if (request.customAttributes().isPresent()) {
                    throw new IllegalStateException("no room");
                }
                return super.openSession(request);
            }
        };
        server = TestServer.with(handler).start("BERTH_MAX_SESSIONS=1");
        var failed = server.invoke(OPEN, ID, "NEW_SESSION", "X-Amzn-SageMaker-Custom-Attributes", "x");

        assertStatus(failed, 500, "openSession failed", "no room");
        open(server);
    }

    @Test
    void aServerThatStopsClosesItsSessions() throws Exception {
        server = TestServer.with(remembering).start();
        open(server);
        open(server);

        server.close();

        assertThat(remembering.closed()).isEqualTo(2);
    }

    private static String open(TestServer server) throws Exception {
        var response = server.invoke(OPEN, ID, "NEW_SESSION");
        assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
        return session(response);
    }

    private static HttpResponse<String> ask(TestServer server, String id, String text) {
        return server.invokeAsync(text, ID, id, "Content-Type", "text/plain")
                .orTimeout(60, TimeUnit.SECONDS)
                .join();
    }
}
