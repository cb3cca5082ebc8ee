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
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.testcontainers.containers.GenericContainer;

/// Chromium with one page, in a container that shares the network of another one.
///
/// It is told what to do by Chromium's DevTools protocol: JSON messages over the container's
/// standard input and output, each with a zero byte behind it. So no port is needed. Used by one
/// thread.
public final class Browser implements AutoCloseable {

    private static final String IMAGE = "berth-test-browser";
    private static final ObjectMapper JSON = new ObjectMapper();

    private static boolean built;

    private final Process process;
    private final OutputStream requests;
    private final InputStream answers;
    private final StringBuilder console = new StringBuilder();
    private final List<String> problems = new ArrayList<>();
    private final String page;
    private int messages;

    private Browser(Process process) throws IOException {
        this.process = process;
        this.requests = process.getOutputStream();
        this.answers = new BufferedInputStream(process.getInputStream());
        var target = ask("Target.createTarget", Map.of("url", "about:blank"), "")
                .path("targetId")
                .asText();
        this.page = ask("Target.attachToTarget", Map.of("targetId", target, "flatten", true), "")
                .path("sessionId")
                .asText();
        ask("Runtime.enable", Map.of(), page);
        ask("Log.enable", Map.of(), page);
    }

    /// Builds its image, once for all tests. To be called after [BerthImage#build], which looks for
    /// Docker.
    public static synchronized void build() throws IOException, InterruptedException {
        if (!built) {
            BerthImage.run(
                    List.of("docker", "build", "-t", IMAGE, "src/test/browser"),
                    Path.of("target", "docker-build-browser.log"));
            built = true;
        }
    }

    /// Starts one for which `localhost` is a container that runs.
    public static Browser beside(GenericContainer<?> container) throws IOException {
        return new Browser(new ProcessBuilder(
                        "docker",
                        "run",
                        "--rm",
                        "--interactive",
                        "--network",
                        "container:" + container.getContainerId(),
                        IMAGE)
                .redirectError(ProcessBuilder.Redirect.INHERIT)
                .start());
    }

    /// Opens a page and waits until all of it is there. Its address is, before its elements are.
    public void open(String address) throws IOException {
        problems.clear();
        ask("Page.navigate", Map.of("url", address), page);
        await().until(() ->
                evaluate("document.readyState + ' ' + location.href").asText().equals("complete " + address));
    }

    /// Runs a script in the page as its console does, and waits for its promise.
    ///
    /// @return the value of its last expression
    /// @throws IOException when the script throws
    public JsonNode evaluate(String script) throws IOException {
        var answer = ask(
                "Runtime.evaluate",
                Map.of("expression", script, "replMode", true, "awaitPromise", true, "returnByValue", true),
                page);
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

    /// What the browser itself has complained about since the page was opened: what a policy stops,
    /// what a page does not find, scripts that throw.
    public List<String> problems() throws IOException {
        evaluate("0");
        return List.copyOf(problems);
    }

    /// Clicks on the middle of what a CSS selector finds.
    public void click(String selector) throws IOException {
        var place = evaluate("""
        {
          const found = document.querySelector(%s);
          found.scrollIntoView({block: "center"});
          const box = found.getBoundingClientRect();
          ({x: box.x + box.width / 2, y: box.y + box.height / 2})
        }
        """.formatted(quoted(selector)));
        for (var type : List.of("mousePressed", "mouseReleased")) {
            ask(
                    "Input.dispatchMouseEvent",
                    Map.of("type", type, "x", place.path("x"), "y", place.path("y"), "button", "left", "clickCount", 1),
                    page);
        }
    }

    /// Presses and releases a key, with Control where it is to.
    ///
    /// @param text what it writes; empty: nothing
    public void press(String key, String text, boolean control) throws IOException {
        var code = switch (key) {
            case "Tab" -> 9;
            case "Enter" -> 13;
            case "a" -> 65;
            default -> throw new IllegalArgumentException(key);
        };
        for (var type : List.of("keyDown", "keyUp")) {
            ask(
                    "Input.dispatchKeyEvent",
                    Map.of(
                            "type",
                            type,
                            "key",
                            key,
                            "code",
                            key.length() == 1 ? "KeyA" : key,
                            "windowsVirtualKeyCode",
                            code,
                            "text",
                            type.equals("keyDown") ? text : "",
                            "modifiers",
                            control ? 2 : 0),
                    page);
        }
    }

    /// Writes a text where the focus is, in place of what is selected.
    public void type(String text) throws IOException {
        ask("Input.insertText", Map.of("text", text), page);
    }

    /// The text of what a CSS selector finds, as it is shown; null: there is no such element.
    public String text(String selector) throws IOException {
        var text = evaluate("document.querySelector(%s)?.innerText ?? null".formatted(quoted(selector)));
        return text.isNull() ? null : text.asText();
    }

    /// How large the page is shown, and whether to somebody who prefers it dark. Nothing moves, so
    /// that what is measured next is what stays.
    public void show(int width, int height, boolean dark) throws IOException {
        ask(
                "Emulation.setDeviceMetricsOverride",
                Map.of("width", width, "height", height, "deviceScaleFactor", 1, "mobile", true),
                page);
        ask(
                "Emulation.setEmulatedMedia",
                Map.of(
                        "features",
                        List.of(
                                Map.of("name", "prefers-color-scheme", "value", dark ? "dark" : "light"),
                                Map.of("name", "prefers-reduced-motion", "value", "reduce"))),
                page);
    }

    /// What is shown, as a PNG.
    public byte[] picture() throws IOException {
        return ask("Page.captureScreenshot", Map.of("format", "png", "optimizeForSpeed", false), page)
                .path("data")
                .binaryValue();
    }

    private static String quoted(String text) throws IOException {
        return JSON.writeValueAsString(text);
    }

    private JsonNode ask(String method, Map<String, Object> parameters, String session) throws IOException {
        int id = ++messages;
        var request =
                JSON.createObjectNode().put("id", id).put("method", method).putPOJO("params", parameters);
        if (!session.isEmpty()) {
            request.put("sessionId", session);
        }
        requests.write(JSON.writeValueAsBytes(request));
        requests.write(0);
        requests.flush();
        for (var message = next(); ; message = next()) {
            if (message.path("method").asText().equals("Runtime.consoleAPICalled")) {
                message.at("/params/args")
                        .forEach(value ->
                                console.append(value.path("value").asText()).append('\n'));
            } else if (message.path("method").asText().equals("Log.entryAdded")) {
                problems.add(message.at("/params/entry/text").asText());
            } else if (message.path("method").asText().equals("Runtime.exceptionThrown")) {
                problems.add(message.at("/params/exceptionDetails").toString());
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
