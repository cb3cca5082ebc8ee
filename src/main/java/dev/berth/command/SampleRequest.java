package dev.berth.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.berth.artifact.ArtifactFile;
import dev.berth.content.ContentTypes;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// The request that an artifact brings as its own test: `sample.json`, or `sample.csv`, `sample.png` and so on, with the
/// response to it in `sample-response.json` if it likes.
///
/// @param contentType what the ending of the file stands for
record SampleRequest(Path file, MediaType contentType) {

  /// How far apart two numbers of a response may be, absolutely or relatively: processors add in different orders.
  private static final double TOLERANCE = 1e-3;

  private static final ObjectMapper JSON = new ObjectMapper();

  /// @throws StartException when there is one that can't be read
  static Optional<SampleRequest> in(Path directory) throws StartException {
    var found = ContentTypes.all().stream()
        .flatMap(type -> type.fileEndings().stream()
            .map(ending -> new SampleRequest(directory.resolve("sample." + ending), type.mediaTypes().getFirst())))
        .filter(sample -> ArtifactFile.isThere(sample.file))
        .findFirst();
    if (found.isPresent()) {
      require(found.get().file);
      if (found.get().hasResponse()) {
        require(found.get().response());
      }
    }
    return found;
  }

  private static void require(Path file) throws StartException {
    var problem = ArtifactFile.problem(file);
    if (problem.isPresent()) {
      throw new StartException("%s: %s".formatted(file.getFileName(), problem.get()));
    }
  }

  /// The request with a body that is to be closed.
  InvocationRequest request(InputStream body, List<MediaType> responseTypes) {
    var accept = responseTypes.isEmpty() ? MediaType.JSON : responseTypes.getFirst();
    return new InvocationRequest(body, contentType, accept, Optional.empty(), "check", false);
  }

  /// Whether the artifact says what the response is.
  boolean hasResponse() {
    return ArtifactFile.isThere(response());
  }

  private Path response() {
    return file.resolveSibling("sample-response.json");
  }

  /// Compares a response with the one that the artifact expects.
  ///
  /// @return whether it expects one
  /// @throws StartException when they differ
  boolean check(InvocationResponse response) throws IOException, StartException {
    if (!hasResponse()) {
      return false;
    }
    var expected = response();
    var found = JSON.readTree(response.body());
    if (!found.equals(SampleRequest::compare, JSON.readTree(expected.toFile()))) {
      throw new StartException("%s: found another response to %s: %s".formatted(expected, file.getFileName(), found));
    }
    return true;
  }

  /// For leaves: 0 where they are the same.
  private static int compare(JsonNode a, JsonNode b) {
    if (a.isNumber() && b.isNumber()) {
      double difference = Math.abs(a.doubleValue() - b.doubleValue());
      return difference <= TOLERANCE * Math.max(1, Math.abs(b.doubleValue())) ? 0 : 1;
    }
    return a.equals(b) ? 0 : 1;
  }
}
