package dev.berth.command;

import dev.berth.artifact.code.HookCode;
import dev.berth.batching.BatchLimits;
import dev.berth.config.ServerConfig;
import dev.berth.engine.Graph;
import dev.berth.handler.qa.QuestionAnsweringHandler;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.TransformHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Loads a model artifact on every device as the server does, asks it its sample, and measures it. Runs on one thread,
/// which then is the one that predicts.
final class Check {

  /// Enough for a median.
  private static final int MOST_RUNS = 50;
  private static final int LEAST_RUNS = 3;
  private static final long LONG_ENOUGH_NANOS = 1_000_000_000;

  /// A slow model is not measured at every size.
  private static final long TOO_LONG_NANOS = 10_000_000_000L;
  private static final int MOST_RECORDS = 1024;

  /// Twice the records are worth their longer wait only if they come out clearly faster.
  private static final double CLEARLY_FASTER = 1.05;

  private record Speed(int batch, double milliseconds) {
    double recordsPerSecond() {
      return batch * 1000 / milliseconds;
    }
  }

  private final Path directory;
  private final Deployment deployment;

  private Check(Path directory, Deployment deployment) {
    this.directory = directory;
    this.deployment = deployment;
  }

  /// @return the report, line by line
  /// @throws StartException with every problem that was found
  static List<String> run(ServerConfig config) throws StartException {
    try {
      var check = new Check(config.model().directory(), Deployment.plan(config));
      var handler = check.deployment.hooks().handler();
      try {
        return check.report(handler);
      } finally {
        HookCode.close(handler);
      }
    } catch (Exception e) {
      throw StartException.of(e);
    }
  }

  private <M, I, O> List<String> report(InferenceHandler<M, I, O> handler) throws Exception {
    long start = System.nanoTime();
    var accelerators = deployment.workers().stream().distinct().toList();
    var models = new ArrayList<M>();
    for (int worker = 0; worker < accelerators.size(); worker++) {
      var context = new ModelContext(directory.toAbsolutePath().normalize(), accelerators.get(worker), worker, accelerators);
      models.add(handler.modelFn(context));
      handler.warmUpFn(models.getLast());
    }
    double loaded = (System.nanoTime() - start) / 1e9;

    var report = new ArrayList<String>();
    report.add(line("artifact", directory));
    deployment.hooks().description().forEach((name, value) -> report.add(line(name, value)));
    report.add(line("device", "%s; %s".formatted(
        accelerators.stream().map(Object::toString).collect(Collectors.joining(", ")), deployment.devices().origin())));
    report.add(line("workers", "%d, each on batches of up to %d".formatted(
        deployment.workers().size(), deployment.limits().maxBatchSize())));
    report.add(line("load", "%.1f s for %d cop%s, warm-up included".formatted(
        loaded, models.size(), models.size() == 1 ? "y" : "ies")));
    var sample = SampleRequest.in(directory);
    if (sample.isPresent()) {
      report.addAll(tried(sample.get(), handler, models.getFirst()));
    } else {
      report.add(line("sample", "none: put a request into sample.json, and it is tried and measured here"));
    }
    if (models.getFirst() instanceof Graph graph) {
      report.add(line("names", names(graph)));
    }
    return report;
  }

  /// For `model.json`. Some outputs have names only once the sample has been tried.
  private static String names(Graph graph) {
    return Stream.of(Map.entry("inputs", graph.inputNames()), Map.entry("outputs", graph.outputNames()))
        .map(names -> names.getKey() + " " + (names.getValue().isEmpty() ? "unknown" : String.join(", ", names.getValue())))
        .collect(Collectors.joining("; "));
  }

  private <M, I, O> List<String> tried(SampleRequest sample, InferenceHandler<M, I, O> handler, M model) throws Exception {
    var report = new ArrayList<String>();
    I record;
    try (var body = Files.newInputStream(sample.file())) {
      var request = sample.request(body, handler.responseTypes());
      var records = handler.inputFn(request);
      var response = handler.outputFn(handler.predictFn(records, model), request);
      report.add(line("sample", new String(response.body(), StandardCharsets.UTF_8)
          + (isAsExpected(sample, handler, response) ? " (checked against sample-response.json)" : "")));
      record = records.getFirst();
    }
    if (handler instanceof TransformHandler<?>) {
      // Its record is a whole request, whose body can be read once.
      return report;
    }
    var alone = measure(handler, model, record, 1);
    report.add(line("batch of 1", shown(alone)));
    var best = alone;
    long begin = System.nanoTime();
    for (int batch : batches(deployment.limits(), handler.length(record))) {
      if (System.nanoTime() - begin > TOO_LONG_NANOS) {
        break;
      }
      var speed = measure(handler, model, record, batch);
      if (speed.recordsPerSecond() > best.recordsPerSecond() * CLEARLY_FASTER) {
        best = speed;
      }
    }
    report.add(line("best batch", best == alone ? "1" : "%d: %s".formatted(best.batch, shown(best))));
    return report;
  }

  /// The question-answering handler has compared what the model answers already, in its warm-up; what a hook of one's own
  /// makes of that answer is another matter.
  private static boolean isAsExpected(SampleRequest sample, InferenceHandler<?, ?, ?> handler, InvocationResponse response)
      throws IOException, StartException {
    return handler instanceof QuestionAnsweringHandler ? sample.hasResponse() : sample.check(response);
  }

  /// The batch sizes above 1 that are worth a try: the powers of two, and the largest that the server forms.
  static List<Integer> batches(BatchLimits limits, int length) {
    int largest = Math.min(MOST_RECORDS, Math.min(limits.maxBatchSize(), limits.maxBatchTokens() / length));
    var batches = new ArrayList<Integer>();
    for (int batch = 2; batch < largest; batch *= 2) {
      batches.add(batch);
    }
    if (largest > 1) {
      batches.add(largest);
    }
    return batches;
  }

  /// The median time of `predictFn`.
  private static <M, I, O> Speed measure(InferenceHandler<M, I, O> handler, M model, I record, int batch) throws Exception {
    var records = Collections.nCopies(batch, record);
    var times = new ArrayList<Long>();
    long begin = System.nanoTime();
    while (times.size() < LEAST_RUNS || times.size() < MOST_RUNS && System.nanoTime() - begin < LONG_ENOUGH_NANOS) {
      long start = System.nanoTime();
      handler.predictFn(records, model);
      times.add(System.nanoTime() - start);
    }
    Collections.sort(times);
    return new Speed(batch, times.get(times.size() / 2) / 1e6);
  }

  private static String shown(Speed speed) {
    return "%.1f ms, %.0f records/s of one worker while the others are idle".formatted(speed.milliseconds, speed.recordsPerSecond());
  }

  private static String line(String name, Object value) {
    return "%-12s%s".formatted(name, value);
  }
}
