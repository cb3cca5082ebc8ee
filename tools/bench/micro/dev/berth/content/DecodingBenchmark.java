package dev.berth.content;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.benchmark.Defaults;
import dev.berth.benchmark.Payloads;
import java.io.IOException;
import java.util.List;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/// From text to JSON values and CSV rows: the part of reading questions that is Jackson's.
@State(Scope.Benchmark)
public class DecodingBenchmark extends Defaults {

    private static final int RECORDS = 1_000;

    private final String json = Payloads.json();
    private final String jsonLines = Payloads.jsonLines(RECORDS);
    private final String csv = Payloads.csv(RECORDS);

    @Benchmark
    public JsonNode json() {
        return Json.parse(json, "body");
    }

    @Benchmark
    public void jsonLines(Blackhole values) {
        for (var line : JsonLines.lines(jsonLines)) {
            values.consume(line.json());
        }
    }

    @Benchmark
    public List<String[]> csv() throws IOException {
        return Csv.rows(csv);
    }
}
