package dev.berth.handler.qa;

import dev.berth.benchmark.Defaults;
import java.util.List;
import java.util.Random;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/// From the logits of one window to its best spans.
@State(Scope.Benchmark)
public class SpanSearchBenchmark extends Defaults {

  private static final int TOKENS = 384;

  @Param({"1", "5"})
  public int topK;

  private Parameters parameters;
  private float[] start;
  private float[] end;

  @Setup
  public void prepare() {
    parameters = Parameters.defaults(512).withTopK(topK);
    var random = new Random(7);
    start = logits(random);
    end = logits(random);
  }

  /// Noise with one likely place, as a model that knows the answer gives.
  private static float[] logits(Random random) {
    var logits = new float[TOKENS];
    for (int i = 0; i < TOKENS; i++) {
      logits[i] = (float) (random.nextGaussian() * 2 - 6);
    }
    logits[TOKENS / 2 + random.nextInt(10)] = 5;
    return logits;
  }

  @Benchmark
  public List<SpanSearch.Span> search() {
    var search = new SpanSearch(parameters, true);
    search.add(start, end, 0, 0, TOKENS, 0);
    return search.best();
  }
}
