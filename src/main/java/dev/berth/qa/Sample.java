package dev.berth.qa;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The artifact's own test: `sample.json`, a request, and `sample-response.json`, what the model answered to it when it
/// was traced. An artifact without them is asked a question that any model can be asked.
final class Sample {

  private static final Logger log = LoggerFactory.getLogger(Sample.class);
  private static final JsonMapper JSON = new JsonMapper();

  private static final String ANY_QUESTION = "{\"question\": \"What is warm?\", \"context\": \"The engine is warm.\"}";

  /// Rounding differs from one processor to another, and int8 amplifies that: it may decide between two answers that are
  /// about as good, but not bring a bad one to the front.
  private static final double TOLERANCE = 0.1;

  private final ModelArtifact artifact;
  private final String request;
  private final Optional<Answer> expected;

  /// @throws ModelArtifactException when a file is there and can't be read
  Sample(ModelArtifact artifact) {
    this.artifact = artifact;
    try {
      this.request = Files.exists(artifact.sample()) ? Files.readString(artifact.sample()) : ANY_QUESTION;
      this.expected = Files.exists(artifact.sample()) && Files.exists(artifact.sampleResponse())
          ? Optional.of(JSON.readValue(artifact.sampleResponse().toFile(), Answer.class))
          : Optional.empty();
    } catch (IOException e) {
      throw problem("it or sample-response.json can't be read: " + e.getMessage());
    }
  }

  InvocationRequest request(MediaType accept) {
    var body = new ByteArrayInputStream(request.getBytes(StandardCharsets.UTF_8));
    return new InvocationRequest(body, MediaType.JSON, accept, Optional.empty(), "sample", false);
  }

  /// Compares the answer with the one of the trace.
  ///
  /// @throws ModelArtifactException when it is another one
  void check(List<QuestionAnswer> answers) {
    if (expected.isEmpty() || !(answers.getFirst() instanceof QuestionAnswer.Answered(var found, _, _))) {
      return;
    }
    var best = found.getFirst();
    var traced = expected.get();
    if (best.start() == traced.start() && best.end() == traced.end()) {
      return;
    }
    var difference = "the model answers %s, and when it was traced it answered %s".formatted(shown(best), shown(traced));
    if (Math.abs(best.score() - traced.score()) > TOLERANCE) {
      throw problem(difference + "; do its files belong together?");
    }
    log.warn("sample.json: {}, which is about as good", difference);
  }

  ModelArtifactException problem(String what) {
    return new ModelArtifactException(artifact.directory(), List.of("sample.json: " + what));
  }

  private static String shown(Answer answer) {
    return "%s (score %.3f)".formatted(Found.quoted(answer.answer()), answer.score());
  }
}
