package dev.berth.reliability;

import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/// What holds for every response, whatever was sent.
final class Rules {

    /// What a client gets that has closed its side before the answer. No other may get it.
    static final int CLIENT_LEFT = 499;

    private static final Set<Integer> STATUSES = Set.of(
            200, 400, 403, 404, 405, 406, 408, 409, 411, 413, 414, 415, 417, 426, 429, 431, 501, 503, 504, 505, 507);

    private static final String TEXT = "\"(?:[^\"\\\\\\x00-\\x1f]|\\\\(?:[\"\\\\/bfnrt]|u[0-9a-fA-F]{4}))*+\"";

    /// Of the Open Inference Protocol the second.
    private static final Pattern ERROR = Pattern.compile(
            "\\{\"message\":%s,\"type\":\"[a-z_]+\",\"code\":(\\d{3})\\}|\\{\"error\":%s\\}".formatted(TEXT, TEXT));

    /// Names of classes and lines of stacks.
    private static final Pattern INTERNALS = Pattern.compile(
            "\\b(?:java|javax|jdk|sun|ai\\.djl|dev\\.berth|com\\.fasterxml|org\\.eclipse|io\\.javalin)\\.[a-z]|[a-zA-Z]Exception\\b|StreamReadConstraints|OutOfMemoryError|\\.java:\\d|\\bat"
                    + " [a-z]\\w*\\.\\w+\\(");

    private static final int LONGEST_ERROR = 2048;

    private Rules() {}

    /// What is wrong with a response, if anything is.
    static Optional<String> broken(Wire.Answer answer) {
        if (!STATUSES.contains(answer.status())) {
            return Optional.of("the status %d: %s".formatted(answer.status(), answer.text()));
        }
        if (answer.status() == 200 || answer.body().length == 0) {
            return Optional.empty();
        }
        var text = answer.text();
        var error = ERROR.matcher(text);
        if (text.length() > LONGEST_ERROR) {
            return Optional.of("an error body of %d characters".formatted(text.length()));
        }
        var status = String.valueOf(answer.status());
        if (!error.matches()
                || !Optional.ofNullable(error.group(1)).orElse(status).equals(status)) {
            return Optional.of("a body of another form for %d: %s".formatted(answer.status(), text));
        }
        if (!answer.headers().getOrDefault("content-type", "").startsWith("application/json")) {
            return Optional.of("an error of the type " + answer.headers().get("content-type"));
        }
        return INTERNALS.matcher(text).find() ? Optional.of("internals in the message: " + text) : Optional.empty();
    }

    /// Lines of a log that a client could have written: they show what it sent without quotes, or
    /// control characters.
    static List<String> forged(String log, String sent) {
        return log.lines()
                .filter(line -> line.chars().anyMatch(c -> (c < ' ' && c != '\t') || (c >= 0x7f && c <= 0x9f))
                        || (line.contains(sent) && !line.contains('"' + sent) && !line.contains("'" + sent)))
                .toList();
    }
}
