package dev.berth.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class ServingMetricsTest {

  private final ServingMetrics metrics = new ServingMetrics();

  @AfterEach
  void close() {
    metrics.close();
  }

  @Test
  void everyInstrumentThatHasNoLabelsIsThereFromTheStart() {
    assertThat(names()).contains(
        "berth_records_total",
        "berth_batch_size_count",
        "berth_queue_depth",
        "berth_queue_wait_seconds_count",
        "berth_decode_seconds_count",
        "berth_predict_seconds_count",
        "berth_encode_seconds_count",
        "berth_tokens_total",
        "berth_padding_tokens_total",
        "berth_model_load_seconds_count",
        "berth_workers",
        "berth_connections",
        "berth_overloaded_total",
        "berth_expired_total",
        "berth_abandoned_total",
        "berth_out_of_memory_total");
  }

  @Test
  void lostLinesOfTheLogAreCountedByWhoeverLosesThem() {
    metrics.lostLogEvents(() -> 7);

    assertThat(metrics.scrape().lines()).contains("berth_log_lines_dropped_total 7.0");
  }

  @Test
  void theVirtualMachineAndTheProcessAreMeasuredToo() {
    assertThat(names()).contains(
        "jvm_memory_used_bytes", "jvm_threads_live_threads", "process_cpu_usage", "process_uptime_seconds");
  }

  @Test
  void connectionsAreCountedAndWhyTheyWereDropped() {
    metrics.connectionOpened();
    metrics.connectionOpened();
    metrics.connectionClosed();
    metrics.connectionDropped("made_way");

    assertThat(metrics.scrape().lines())
        .contains("berth_connections 1.0", "berth_connections_dropped_total{reason=\"made_way\"} 1.0");
  }

  @Test
  void requestsAreCountedByRouteAndStatus() {
    metrics.requestCompleted("/invocations", 200, Duration.ofMillis(3));
    metrics.requestCompleted("/invocations", 200, Duration.ofMillis(30));
    metrics.requestCompleted("/invocations", 503, Duration.ofMillis(1));

    assertThat(metrics.scrape().lines()).contains(
        "berth_requests_total{route=\"/invocations\",status=\"200\"} 2.0",
        "berth_requests_total{route=\"/invocations\",status=\"503\"} 1.0",
        "berth_request_seconds_count{route=\"/invocations\"} 3",
        "berth_request_seconds_bucket{route=\"/invocations\",le=\"0.001\"} 1",
        "berth_request_seconds_bucket{route=\"/invocations\",le=\"0.005\"} 2",
        "berth_request_seconds_bucket{route=\"/invocations\",le=\"60.0\"} 3");
  }

  @Test
  void theQueueIsAsDeepAsWhatCameAndHasNotLeft() {
    metrics.recordsQueued(5);
    metrics.recordsDequeued(2);

    assertThat(metrics.scrape().lines()).contains("berth_records_total 5.0", "berth_queue_depth 3.0");
  }

  @Test
  void paddingIsWhatABatchCostsBeyondItsLengths() {
    metrics.batchPredicted(3, 60, 90, Duration.ofMillis(40));

    assertThat(metrics.scrape().lines()).contains(
        "berth_tokens_total 60.0",
        "berth_padding_tokens_total 30.0",
        "berth_batch_size_bucket{le=\"2.0\"} 0",
        "berth_batch_size_bucket{le=\"4.0\"} 1",
        "berth_predict_seconds_bucket{le=\"0.02\"} 0",
        "berth_predict_seconds_bucket{le=\"0.05\"} 1");
  }

  @Test
  void eachEventMovesItsOwnInstrument() {
    metrics.decoded(Duration.ofMillis(1));
    metrics.encoded(Duration.ofMillis(1));
    metrics.recordWaited(Duration.ofMillis(1));
    metrics.modelLoaded(Duration.ofSeconds(7));
    metrics.workerStarted();
    metrics.workerStarted();
    metrics.workerStopped();
    metrics.requestOverloaded();
    metrics.requestExpired();
    metrics.recordsAbandoned(4);

    assertThat(metrics.scrape().lines()).contains(
        "berth_decode_seconds_count 1",
        "berth_encode_seconds_count 1",
        "berth_queue_wait_seconds_count 1",
        "berth_model_load_seconds_sum 7.0",
        "berth_workers 1.0",
        "berth_overloaded_total 1.0",
        "berth_expired_total 1.0",
        "berth_abandoned_total 4.0");
  }

  private Stream<String> names() {
    return metrics.scrape().lines().filter(line -> !line.startsWith("#")).map(line -> line.split("[{ ]", 2)[0]);
  }
}
