package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.benchmark.Defaults;
import dev.berth.benchmark.Payloads;
import dev.berth.content.ContentType.OfDocuments;
import dev.berth.content.ContentTypes;
import dev.berth.content.Documents;
import dev.berth.handler.task.TaskInput;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.infra.Blackhole;

/// From the bytes of a body to its questions.
@State(Scope.Benchmark)
public class QuestionReaderBenchmark extends Defaults {

    private static final int RECORDS = 1_000;

    private final Parameters parameters = Parameters.defaults(512);
    private final byte[] json = Payloads.json().getBytes(StandardCharsets.UTF_8);
    private final byte[] jsonLines = Payloads.jsonLines(RECORDS).getBytes(StandardCharsets.UTF_8);
    private final byte[] csv = Payloads.csv(RECORDS).getBytes(StandardCharsets.UTF_8);

    @Benchmark
    public void json(Blackhole questions) throws IOException {
        read(json, MediaType.JSON, questions);
    }

    @Benchmark
    public void jsonLines(Blackhole questions) throws IOException {
        read(jsonLines, MediaType.JSON_LINES, questions);
    }

    @Benchmark
    public void csv(Blackhole questions) throws IOException {
        read(csv, MediaType.CSV, questions);
    }

    private void read(byte[] body, MediaType type, Blackhole questions) throws IOException {
        var request = new InvocationRequest(
                new ByteArrayInputStream(body), type, MediaType.JSON, Optional.empty(), "benchmark", false);
        var documents =
                ContentTypes.reading(request, OfDocuments.class).readDocuments(request, List.of("question", "context"));
        switch (documents) {
            case Documents.Body(var whole) -> questions.consume(question(whole, "body"));
            case Documents.Records(var records) ->
                records.forEach(record -> questions.consume(question(record.json(), record.name())));
        }
    }

    private Question question(JsonNode json, String name) {
        return Question.read(new TaskInput<>(json, name, parameters, true));
    }
}
