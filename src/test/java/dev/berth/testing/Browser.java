package dev.berth.testing;

import static org.awaitility.Awaitility.await;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.BufferedInputStream;
import java.io.ByteArrayOutputStream;
import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.testcontainers.containers.GenericContainer;

/// Chromium with one page, in a container that shares the network of another one.
///
/// It is told what to do by Chromium's DevTools protocol: JSON messages over the container's standard input and output, each
/// with a zero byte behind it. So no port is needed. Used by one thread.
public final class Browser implements AutoCloseable {

  private static final String IMAGE = "berth-test-browser";
  private static final ObjectMapper JSON = new ObjectMapper();

  private static boolean built;

  private final Process process;
  private final OutputStream requests;
  private final InputStream answers;
  private final StringBuilder console = new StringBuilder();
  private final String page;
  private int messages;

  private Browser(Process process) throws IOException {
    this.process = process;
    this.requests = process.getOutputStream();
    this.answers = new BufferedInputStream(process.getInputStream());
    var target = ask("Target.createTarget", Map.of("url", "about:blank"), "").path("targetId").asText();
    this.page = ask("Target.attachToTarget", Map.of("targetId", target, "flatten", true), "").path("sessionId").asText();
    ask("Runtime.enable", Map.of(), page);
  }

  /// Builds its image, once for all tests. To be called after [BerthImage#build], which looks for Docker.
  public static synchronized void build() throws IOException, InterruptedException {
    if (!built) {
      BerthImage.run(List.of("docker", "build", "-t", IMAGE, "src/test/browser"), Path.of("target", "docker-build-browser.log"));
      built = true;
    }
  }

  /// Starts one for which `localhost` is a container that runs.
  public static Browser beside(GenericContainer<?> container) throws IOException {
    return new Browser(new ProcessBuilder(
        "docker", "run", "--rm", "--interactive", "--network", "container:" + container.getContainerId(), IMAGE)
        .redirectError(ProcessBuilder.Redirect.INHERIT).start());
  }

  /// Opens a page.
  public void open(String address) throws IOException {
    ask("Page.navigate", Map.of("url", address), page);
    await().until(() -> evaluate("location.href").asText().equals(address));
  }

  /// Runs a script in the page as its console does, and waits for its promise.
  ///
  /// @return the value of its last expression
  /// @throws IOException when the script throws
  public JsonNode evaluate(String script) throws IOException {
    var answer = ask("Runtime.evaluate",
        Map.of("expression", script, "replMode", true, "awaitPromise", true, "returnByValue", true), page);
    if (answer.has("exceptionDetails")) {
      throw new IOException("%s%n%s".formatted(script, answer));
    }
    return answer.at("/result/value");
  }

  /// What the page has logged to its console so far, line by line.
  public String console() throws IOException {
    // It is sent before the answer to what is asked after it.
    evaluate("0");
    return console.toString();
  }

  private JsonNode ask(String method, Map<String, Object> parameters, String session) throws IOException {
    int id = ++messages;
    var request = JSON.createObjectNode().put("id", id).put("method", method).putPOJO("params", parameters);
    if (!session.isEmpty()) {
      request.put("sessionId", session);
    }
    requests.write(JSON.writeValueAsBytes(request));
    requests.write(0);
    requests.flush();
    for (var message = next(); ; message = next()) {
      if (message.path("method").asText().equals("Runtime.consoleAPICalled")) {
        message.at("/params/args").forEach(value -> console.append(value.path("value").asText()).append('\n'));
      } else if (message.path("id").asInt() == id) {
        if (message.has("error")) {
          throw new IOException("%s: %s".formatted(method, message.path("error")));
        }
        return message.path("result");
      }
    }
  }

  private JsonNode next() throws IOException {
    var message = new ByteArrayOutputStream();
    for (int b = answers.read(); b != 0; b = answers.read()) {
      if (b < 0) {
        throw new EOFException("the browser has ended: " + message.toString(StandardCharsets.UTF_8));
      }
      message.write(b);
    }
    return JSON.readTree(message.toByteArray());
  }

  /// Chromium ends when nobody can tell it anything any more, and its container goes with it.
  @Override
  public void close() throws IOException {
    requests.close();
    await().until(() -> !process.isAlive());
  }
}
