package dev.berth.telemetry;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.management.ThreadMXBean;
import java.lang.management.ManagementFactory;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class TracingTest {

    private static final Map<String, String> HEADERS = Map.of();
    private static final RequestTrace.BatchSize SIZE = new RequestTrace.BatchSize(1, 1);
    private static final List<RequestTrace> REQUESTS = List.of(RequestTrace.NONE);

    @Test
    void aRequestThatIsNotTracedAllocatesNothing() {
        var threads = (ThreadMXBean) ManagementFactory.getThreadMXBean();
        // The first one links the call of the header's reader.
        request();
        threads.getCurrentThreadAllocatedBytes();
        long before = threads.getCurrentThreadAllocatedBytes();
        for (int i = 0; i < 1000; i++) {
            request();
        }
        assertThat(threads.getCurrentThreadAllocatedBytes() - before).isZero();
    }

    private static void request() {
        var trace = Exporter.Export.NONE.begin("POST", "/invocations", HEADERS, Map::get);
        trace.id("id");
        trace.model("model");
        try (var step = trace.step("inputFn")) {
            step.failed(null);
        }
        trace.queued();
        try (var batch = trace.batch("batch", REQUESTS, SIZE, 0);
                var predict = batch.step("predictFn")) {
            predict.failed(null);
        }
        trace.records(1);
        trace.end("/invocations", 200, Optional.empty());
    }
}
