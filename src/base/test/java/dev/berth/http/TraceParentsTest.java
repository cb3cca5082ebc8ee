package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.InvocationRequest;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class TraceParentsTest {

    private static final String ROOT = "Root=1-67891233-abcdef012345678912345678";

    @ParameterizedTest
    @CsvSource({
        "Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=1, 01",
        "Self=1-67891234-12456789abcdef012345678;Parent=53995c3f42cd8ad8; Root=1-67891233-abcdef012345678912345678, 00",
        "Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=0;Lineage=a:1, 00"
    })
    void amazonsHeaderIsATraceParent(String header, String flags) {
        assertThat(Headers.ofAmazon(header)).hasValue("00-67891233abcdef012345678912345678-53995c3f42cd8ad8-" + flags);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                ROOT,
                "Parent=53995c3f42cd8ad8",
                ROOT + ";Parent=0000000000000000",
                ROOT + "0;Parent=53995c3f42cd8ad8",
                ROOT + ";Parent=53995C3F42CD8AD8",
                "Root=1-00000000-000000000000000000000000;Parent=53995c3f42cd8ad8"
            })
    void whatNamesNoCallersSpanIsNone(String header) {
        assertThat(Headers.ofAmazon(header)).isEmpty();
    }

    @Test
    void aHookGetsItWithoutTracesToo() throws Exception {
        var seen = new CopyOnWriteArrayList<String>();
        var handler = new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) throws IOException {
                seen.add(request.traceParent().orElse("")
                        + " "
                        + request.header("x-amzn-trace-id").orElse(""));
                return super.inputFn(request);
            }
        };
        try (var server = TestServer.with(handler).start()) {
            var amazons = ROOT + ";Parent=53995c3f42cd8ad8;Sampled=1";
            var w3c = "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01";
            assertThat(server.invoke("a", "X-Amzn-Trace-Id", amazons).headers().firstValue("traceparent"))
                    .isEmpty();
            server.invoke("a", "X-Amzn-Trace-Id", amazons, "traceparent", w3c);
            assertThat(seen)
                    .containsExactly(
                            "00-67891233abcdef012345678912345678-53995c3f42cd8ad8-01 " + amazons, w3c + " " + amazons);
        }
    }
}
