package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.networknt.schema.InputFormat;
import com.networknt.schema.SchemaRegistry;
import com.networknt.schema.SpecificationVersion;
import dev.berth.config.Configuration;
import dev.berth.http.page.Page;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Health;
import dev.berth.serving.HeapWatch;
import dev.berth.serving.HookPool;
import dev.berth.serving.ModelRegistry;
import dev.berth.serving.ModelStore;
import dev.berth.serving.Served;
import dev.berth.serving.ServedModel;
import dev.berth.telemetry.Tracing;
import dev.berth.testing.RememberingHandler;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import io.javalin.Javalin;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// The document of the routes, against the OpenAPI initiative's own schema and against the routes.
class OpenApiTest {

  private static final ObjectMapper JSON = new ObjectMapper();

  @TempDir Path models;

  /// Where this fails for a new route, `dev.berth.http.page.Operations` needs a case for it.
  @Test
  void itHasEachRouteAndNoOther() throws Exception {
    try (var one =
            TestServer.with(new TextHandler()).set("BERTH_METRICS_PATH", "/numbers").start();
        var many = TestServer.ofDirectory(models).start();
        var metrics = new ServingMetrics();
        var hooks = new HookPool(metrics)) {
      assertThat(described(one))
          .isEqualTo(
              registered(
                  Map.of("BERTH_METRICS_PATH", "/numbers"),
                  new Served.One(new ServedModel("a", hooks, metrics)),
                  hooks,
                  metrics));
      var store =
          new ModelStore(
              new ModelRegistry(), hooks, metrics, (_, _, _) -> {}, Duration.ZERO, Duration.ZERO);
      assertThat(described(many))
          .isEqualTo(registered(Map.of(), new Served.Many(store), hooks, metrics));
    }
  }

  private static SortedSet<String> described(TestServer server) throws Exception {
    var described = new TreeSet<String>();
    document(server)
        .path("paths")
        .properties()
        .forEach(
            path ->
                path.getValue()
                    .fieldNames()
                    .forEachRemaining(
                        method ->
                            described.add(method.toUpperCase(Locale.ROOT) + " " + path.getKey())));
    return described;
  }

  /// What Javalin has, so that a route that is not among the [Paths] is found too.
  private static SortedSet<String> registered(
      Map<String, String> environment, Served served, HookPool hooks, ServingMetrics metrics) {
    var config = Configuration.read(environment, Map.of(), Path.of(".")).config();
    var health = new Health(Optional::empty, hooks, new HeapWatch(metrics));
    var page = new Page(config, served, new ModelRegistry(), (_, _) -> Optional.empty());
    var javalin =
        Javalin.create(new Routes(config, health, served, metrics, Tracing.OFF, page)::register);
    return javalin.unsafe.internalRouter.allHttpHandlers().stream()
        .map(route -> route.endpoint)
        .filter(route -> route.method.isHttpMethod())
        .map(route -> route.method + " " + route.path)
        .collect(Collectors.toCollection(TreeSet::new));
  }

  @Test
  void itIsOpenApi() throws Exception {
    Files.createSymbolicLink(models.resolve("a b"), TestServer.SAMPLE_ARTIFACT);
    try (var sample = TestServer.sample().start();
        var talking = TestServer.with(new RememberingHandler(Duration.ofMinutes(5))).start();
        var many = TestServer.ofDirectory(models).start()) {
      var schema =
          SchemaRegistry.withDefaultDialect(SpecificationVersion.DRAFT_2020_12)
              .getSchema(Files.readString(Path.of("src/test/resources/openapi/schema-3.1.json")));
      for (var server : List.of(sample, talking, many)) {
        var text = server.get("/openapi.json").body();
        assertThat(schema.validate(text, InputFormat.JSON)).isEmpty();
        assertThat(JSON.readTree(text).findValuesAsText("$ref"))
            .isNotEmpty()
            .allSatisfy(
                reference ->
                    assertThat(JSON.readTree(text).at(reference.substring(1)).isMissingNode())
                        .as(reference)
                        .isFalse());
      }
      assertThat(
              schema.validate(
                  "{\"openapi\": \"3.1.0\", \"info\": {\"title\": \"x\"}}", InputFormat.JSON))
          .isNotEmpty();
    }
  }

  @Test
  void itSaysWhatTheModelTakesAndGives() throws Exception {
    try (var server = TestServer.sample().start()) {
      var ask = document(server).at("/paths/~1invocations/post");
      assertThat(
              ask.at("/requestBody/content/application~1json/examples/model/value/question")
                  .asText())
          .isEqualTo("Where was Marie Curie born?");
      assertThat(
              ask.at("/requestBody/content/application~1jsonlines/examples/model/value").asText())
          .startsWith("{\"question\":");
      assertThat(ask.at("/requestBody/content").has("text/csv")).isTrue();
      assertThat(
              ask.at("/responses/200/content/application~1json/examples/model/value/answer")
                  .asText())
          .isEqualTo("Warsaw");
      assertThat(ask.path("responses").properties())
          .extracting(Map.Entry::getKey)
          .containsExactlyInAnyOrder("200", "400", "406", "413", "415", "500", "503", "504", "507");
      assertThat(ask.path("parameters").findValuesAsText("name"))
          .doesNotContain("X-Amzn-SageMaker-Session-Id");
    }
    try (var server = TestServer.with(new RememberingHandler(Duration.ofMinutes(5))).start()) {
      assertThat(
              document(server).at("/paths/~1invocations/post/parameters").findValuesAsText("name"))
          .contains("X-Amzn-SageMaker-Session-Id");
    }
  }

  /// A sample that is not JSON is no example, and neither is one that is too long.
  @Test
  void aBadSampleIsLeftOut() throws Exception {
    Files.writeString(
        Files.createDirectories(models.resolve("broken")).resolve("sample.json"), "{");
    Files.writeString(
        Files.createDirectories(models.resolve("long")).resolve("sample.json"),
        "\"%s\"".formatted("x".repeat(65536)));
    try (var server = TestServer.ofDirectory(models).start()) {
      var content = document(server).at("/paths/~1models~1{name}~1invoke/post/requestBody/content");
      assertThat(content).isEqualTo(JSON.readTree("{\"*/*\": {\"schema\": {}}}"));
    }
  }

  private static JsonNode document(TestServer server) throws Exception {
    var response = server.get("/openapi.json");
    assertThat(response.statusCode()).isEqualTo(200);
    return JSON.readTree(response.body());
  }
}
