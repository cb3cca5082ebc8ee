package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.content.Excerpt;
import dev.berth.handler.task.TaskRecord;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.memory.WholeFile;
import java.io.ByteArrayInputStream;
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
record SampleQuestion(ModelArtifact artifact) {

    private static final Logger log = LoggerFactory.getLogger(SampleQuestion.class);

    private static final byte[] ANY_QUESTION =
            "{\"question\": \"What is warm?\", \"context\": \"The engine is warm.\"}".getBytes(StandardCharsets.UTF_8);

    /// Rounding differs from one processor to another, and int8 amplifies that: it may reorder the
    /// best answers, but not bring a bad one to the front.
    private static final int BEST = 5;

    /// A score that moves by more is worth a word.
    private static final double TOLERANCE = 0.1;

    /// Of the heap, for its text.
    private static final int SHARE = 4;

    /// Sends the sample through all hooks, and compares the answer with that of the trace. Where they
    /// differ, that is looked for among the best answers. Those are asked for only to look it up: their
    /// scores are higher, since more spans add up.
    ///
    /// @throws ModelArtifactException when a file is not what it should be, the model does not answer
    ///   it, or the answer is not there
    void ask(InferenceHandler<SpanModel, TaskRecord<EncodedQuestion, Parameters>, Object> hooks, SpanModel model)
            throws Exception {
        try {
            var body = Files.exists(artifact.sample()) ? WholeFile.read(artifact.sample(), SHARE) : ANY_QUESTION;
            var records = hooks.inputFn(request(body, MediaType.JSON));
            if (records.isEmpty()) {
                throw problem("found no question, expected one", null);
            }
            var answers = hooks.predictFn(records, model);
            for (var type : hooks.responseTypes()) {
                hooks.outputFn(answers, request(body, type));
            }
            var traced = Files.exists(artifact.sample()) && Files.exists(artifact.sampleResponse())
                    ? Optional.of(answer(JsonText.read(artifact.sampleResponse())))
                    : Optional.<Answer>empty();
            var answered = answers(answers.getFirst());
            if (traced.isPresent() && !answered.isEmpty() && !isNear(answered.getFirst(), traced.get())) {
                var record = records.getFirst();
                var several =
                        new TaskRecord<>(record.input(), record.parameters().withTopK(BEST));
                var best = answers(hooks.predictFn(List.of(several), model).getFirst());
                compare(answered.getFirst(), traced.get(), best);
            }
        } catch (NotJsonException e) {
            throw problem("sample-response.json: " + e.getMessage(), e);
        } catch (BadInputException e) {
            throw problem(e.getMessage(), e);
        }
    }

    private static InvocationRequest request(byte[] body, MediaType accept) {
        return new InvocationRequest(
                new ByteArrayInputStream(body), MediaType.JSON, accept, Optional.empty(), "sample", false);
    }

    private void compare(Answer answered, Answer traced, List<Answer> best) {
        var difference =
                "the model answers %s, and when it was traced it answered %s".formatted(shown(answered), shown(traced));
        if (best.stream().noneMatch(answer -> isSameSpan(answer, traced))) {
            throw problem(
                    "%s, which is not among the best %d now; do its files belong together?".formatted(difference, BEST),
                    null);
        }
        log.warn("sample.json: {}, which is still among the best {}", difference, BEST);
    }

    /// None where a `predictFn` has made something else of it.
    private static List<Answer> answers(Object answer) {
        return (answer instanceof List<?> several ? several.stream() : Stream.of(answer))
                .filter(Answer.class::isInstance)
                .map(Answer.class::cast)
                .toList();
    }

    /// The answer of a response: an object, or the first of a list.
    private Answer answer(JsonNode response) {
        var answer = response.isArray() ? response.path(0) : response;
        if (!answer.path("answer").isTextual()
                || !answer.path("start").isInt()
                || !answer.path("end").isInt()) {
            throw problem(
                    "sample-response.json: found %s, expected {\"answer\": …, \"score\": …, \"start\": …, \"end\": …}"
                            .formatted(Excerpt.of(response)),
                    null);
        }
        return new Answer(
                answer.path("answer").textValue(),
                answer.path("score").asDouble(),
                answer.path("start").intValue(),
                answer.path("end").intValue());
    }

    private ModelArtifactException problem(String what, Throwable cause) {
        return new ModelArtifactException(artifact.directory(), List.of("sample.json: " + what), cause);
    }

    private static boolean isNear(Answer one, Answer other) {
        return isSameSpan(one, other) && Math.abs(one.score() - other.score()) <= TOLERANCE;
    }

    private static boolean isSameSpan(Answer one, Answer other) {
        return one.start() == other.start() && one.end() == other.end();
    }

    private static String shown(Answer answer) {
        return "%s (score %.3f)".formatted(Excerpt.quoted(answer.answer()), answer.score());
    }
}
