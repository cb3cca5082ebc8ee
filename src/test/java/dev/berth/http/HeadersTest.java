package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.net.http.HttpResponse;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/// Types and headers, on the sample model where its own types matter.
class HeadersTest {

  private static final String BOB = "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}";

  private static TestServer sample;

  @BeforeAll
  static void start() throws Exception {
    sample = TestServer.sample().start();
  }

  @AfterAll
  static void stop() throws Exception {
    sample.close();
  }

  @Test
  @Tag("HDR-01")
  void noContentTypeMeansJson() throws Exception {
    assertThat(sample.invoke(BOB).body()).startsWith("{\"answer\":\"Bob\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"application/json; charset=utf-8", "Application/JSON;charset=\"UTF-8\"", "application/json;version=1"})
  @Tag("HDR-02")
  void parametersAndCaseOfAContentTypeDoNotMatter(String contentType) throws Exception {
    assertThat(sample.invoke(BOB, "Content-Type", contentType).body()).startsWith("{\"answer\":\"Bob\"");
  }

  @Test
  @Tag("HDR-03")
  @Tag("HDR-04")
  void withoutAcceptOrWithAnyTypeTheAnswerIsJson() throws Exception {
    assertThat(type(sample.invoke(BOB))).isEqualTo("application/json");
    assertThat(type(sample.invoke(BOB, "Accept", "*/*"))).isEqualTo("application/json");
    assertThat(type(sample.invoke(BOB, "Accept", ""))).isEqualTo("application/json");
  }

  @Test
  @Tag("HDR-03")
  @Tag("HDR-04")
  @Tag("HDR-05")
  void theDefaultTypeFollowsItsVariable() throws Exception {
    try (var server = TestServer.sample().set("SAGEMAKER_DEFAULT_INVOCATIONS_ACCEPT", "text/csv").start()) {
      assertThat(type(server.invoke(BOB))).isEqualTo("text/csv");
      assertThat(type(server.invoke(BOB, "Accept", "*/*"))).isEqualTo("text/csv");
      assertThat(type(server.invoke(BOB, "Accept", "application/json"))).isEqualTo("application/json");
    }
  }

  @ParameterizedTest
  @CsvSource(delimiter = '|', value = {
      "image/png, text/csv | text/csv",
      "text/csv;q=0.1, application/json | application/json",
      "text/csv | text/csv",
      "application/jsonlines | application/jsonlines"})
  @Tag("HDR-06")
  @Tag("HDR-07")
  @Tag("HDR-13")
  void theBestAcceptedTypeIsWritten(String accept, String contentType) throws Exception {
    assertThat(type(sample.invoke(BOB, "Accept", accept))).isEqualTo(contentType);
  }

  @Test
  @Tag("HDR-08")
  void aTypeThatTheModelDoesNotWriteIs406() throws Exception {
    var response = sample.invoke(BOB, "Accept", "application/x-unknown");
    assertThat(response.statusCode()).isEqualTo(406);
    assertThat(response.body()).startsWith("{\"message\":\"Accept: found \\\"application/x-unknown\\\"");
  }

  @ParameterizedTest
  @ValueSource(strings = {"application/x-unknown", "nonsense", "*/*", "application/x-www-form-urlencoded"})
  @Tag("HDR-09")
  void aTypeThatTheModelDoesNotReadIs415(String contentType) throws Exception {
    var response = sample.invoke(BOB, "Content-Type", contentType);
    assertThat(response.statusCode()).isEqualTo(415);
    assertThat(response.body()).startsWith("{\"message\":\"Content-Type: found ").contains("application/jsonlines");
  }

  @Test
  void anEncodedBodyIs415() throws Exception {
    var response = sample.invoke(BOB, "Content-Encoding", "gzip");
    assertThat(response.statusCode()).isEqualTo(415);
    assertThat(response.body()).contains("Content-Encoding");
  }

  @Test
  @Tag("HDR-10")
  @Tag("HDR-11")
  void customAttributesReachTheHooksAndComeBackOnlyWhenSet() throws Exception {
    var attributes = "a=1,b=2;" + "x".repeat(1024 - 8);
    var handler = new TextHandler() {
      @Override
      public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
        var response = InvocationResponse.of(request.customAttributes().orElse("none"), request.accept());
        return predictions.contains("ECHO") ? response.withCustomAttributes(request.customAttributes().orElseThrow()) : response;
      }
    };
    try (var server = TestServer.with(handler).start()) {
      var seen = server.invoke("a", Invocations.CUSTOM_ATTRIBUTES, attributes);
      assertThat(seen.body()).isEqualTo(attributes);
      assertThat(seen.headers().firstValue(Invocations.CUSTOM_ATTRIBUTES)).isEmpty();
      var echoed = server.invoke("echo", Invocations.CUSTOM_ATTRIBUTES, attributes);
      assertThat(echoed.headers().firstValue(Invocations.CUSTOM_ATTRIBUTES)).contains(attributes);
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"ü", "a\r\nX-Injected: 1"})
  @Tag("HDR-11")
  void customAttributesThatAreNoPrintableAsciiAreTheHooksFault(String attributes) throws Exception {
    checkRefused(attributes, "expected printable ASCII");
  }

  @Test
  @Tag("HDR-11")
  void customAttributesThatAreTooLongAreTheHooksFault() throws Exception {
    checkRefused("x".repeat(1025), "found 1025 characters, expected at most 1024");
  }

  private static void checkRefused(String attributes, String message) throws Exception {
    var handler = new TextHandler() {
      @Override
      public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
        return InvocationResponse.of("x", request.accept()).withCustomAttributes(attributes);
      }
    };
    try (var server = TestServer.with(handler).start()) {
      var response = server.invoke("a");
      assertThat(response.statusCode()).isEqualTo(500);
      assertThat(response.body()).contains("outputFn").contains(message);
    }
  }

  @Test
  @Tag("HDR-12")
  void theInferenceIdStandsOnEveryLineOfItsRequest() throws Exception {
    var handler = new TextHandler() {
      @Override
      public List<String> inputFn(InvocationRequest request) {
        return List.of(request.inferenceId());
      }
    };
    try (var server = TestServer.with(handler).start(); var log = new CapturedLog()) {
      assertThat(server.invoke("a", "X-Amzn-SageMaker-Inference-Id", "abc").body()).isEqualTo("ABC");
      assertThat(server.invoke("a", "X-Amzn-SageMaker-Inference-Id", "y".repeat(65)).body()).doesNotContain("YYYY");
      assertThat(log.events()).filteredOn(event -> "abc".equals(event.getMDCPropertyMap().get("inferenceId")))
          .singleElement()
          .satisfies(event -> assertThat(event.getFormattedMessage()).startsWith("POST /invocations 200"));
      assertThat(log.events()).allSatisfy(event -> assertThat(event.getMDCPropertyMap()).containsKey("inferenceId"));
    }
  }

  private static String type(HttpResponse<String> response) {
    assertThat(response.statusCode()).as(response.body()).isEqualTo(200);
    return response.headers().firstValue("Content-Type").orElseThrow();
  }
}
