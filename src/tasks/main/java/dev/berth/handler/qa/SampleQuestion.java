package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.content.Excerpt;
import dev.berth.handler.task.TaskAnswer;
import dev.berth.handler.task.TaskRecord;
import dev.berth.handler.task.TaskRecord.Asked;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.memory.WholeFile;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The artifact's own test: `sample.json`, a request, and `sample-response.json`, what the model
/// answered to it when it was traced. An artifact without them is asked a question that any model
/// can be asked.
final class SampleQuestion {

    private static final Logger log = LoggerFactory.getLogger(SampleQuestion.class);

    private static final String ANY_QUESTION =
            "{\"question\": \"What is warm?\", \"context\": \"The engine is warm.\"}";

    /// Rounding differs from one processor to another, and int8 amplifies that: it may reorder the
    /// best answers, but not bring a bad one to the front.
    private static final int BEST = 5;

    /// A score that moves by more is worth a word.
    private static final double TOLERANCE = 0.1;

    private final ModelArtifact artifact;
    private final String request;
    private final Optional<Answer> expected;

    /// Of the heap, for its text.
    private static final int SHARE = 4;

    /// @throws ModelArtifactException when a file is there and is not what it should be
    SampleQuestion(ModelArtifact artifact) {
        this.artifact = artifact;
        try {
            this.request = Files.exists(artifact.sample())
                    ? new String(WholeFile.read(artifact.sample(), SHARE), StandardCharsets.UTF_8)
                    : ANY_QUESTION;
            this.expected = Files.exists(artifact.sample()) && Files.exists(artifact.sampleResponse())
                    ? Optional.of(answer(JsonText.read(artifact.sampleResponse())))
                    : Optional.empty();
        } catch (NotJsonException e) {
            throw problem("sample-response.json: " + e.getMessage(), e);
        } catch (IOException e) {
            throw problem("it or sample-response.json can't be read: " + e.getMessage(), e);
        }
    }

    InvocationRequest request(MediaType accept) {
        var body = new ByteArrayInputStream(request.getBytes(StandardCharsets.UTF_8));
        return new InvocationRequest(body, MediaType.JSON, accept, Optional.empty(), "sample", false);
    }

    /// The sample's question, asked for its best answers.
    ///
    /// @param records what the hooks have read from the request
    List<TaskRecord<EncodedQuestion, Parameters>> question(List<TaskRecord<EncodedQuestion, Parameters>> records) {
        if (records.isEmpty() || !(records.getFirst() instanceof Asked<EncodedQuestion, Parameters> asked)) {
            throw problem("found no question, expected one");
        }
        return List.of(new Asked<>(asked.input(), asked.parameters().withTopK(BEST), asked.alone()));
    }

    /// Compares the answer to the sample with that of the trace, and looks for the latter among the
    /// best answers to [#question] where they differ. Those score otherwise, since more spans add up.
    ///
    /// @throws ModelArtifactException when it is not there
    void check(List<TaskAnswer> answers, List<TaskAnswer> bestAnswers) {
        var answered = answers(answers.getFirst());
        if (expected.isEmpty() || answered.isEmpty()) {
            return;
        }
        var traced = expected.get();
        var best = answered.getFirst();
        if (sameSpan(best, traced) && Math.abs(best.score() - traced.score()) <= TOLERANCE) {
            return;
        }
        var difference =
                "the model answers %s, and when it was traced it answered %s".formatted(shown(best), shown(traced));
        if (answers(bestAnswers.getFirst()).stream().noneMatch(answer -> sameSpan(answer, traced))) {
            throw problem("%s, which is not among the best %d now; do its files belong together?"
                    .formatted(difference, BEST));
        }
        log.warn("sample.json: {}, which is still among the best {}", difference, BEST);
    }

    /// None where a `predictFn` has made something else of it.
    private static List<Answer> answers(TaskAnswer answer) {
        return Stream.of(answer.document())
                .flatMap(document -> document instanceof List<?> several ? several.stream() : Stream.of(document))
                .filter(Answer.class::isInstance)
                .map(Answer.class::cast)
                .toList();
    }

    private ModelArtifactException problem(String what) {
        return problem(what, null);
    }

    ModelArtifactException problem(String what, Throwable cause) {
        return new ModelArtifactException(artifact.directory(), List.of("sample.json: " + what), cause);
    }

    /// The answer of a response: an object, or the first of a list.
    private Answer answer(JsonNode response) {
        var answer = response.isArray() ? response.path(0) : response;
        if (!answer.path("answer").isTextual()
                || !answer.path("start").isInt()
                || !answer.path("end").isInt()) {
            throw problem(
                    "sample-response.json: found %s, expected {\"answer\": …, \"score\": …, \"start\": …, \"end\": …}"
                            .formatted(Excerpt.of(response)));
        }
        return new Answer(
                answer.path("answer").textValue(),
                answer.path("score").asDouble(),
                answer.path("start").intValue(),
                answer.path("end").intValue());
    }

    private static boolean sameSpan(Answer one, Answer other) {
        return one.start() == other.start() && one.end() == other.end();
    }

    private static String shown(Answer answer) {
        return "%s (score %.3f)".formatted(Excerpt.quoted(answer.answer()), answer.score());
    }
}
