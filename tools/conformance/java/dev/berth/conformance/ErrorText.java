package dev.berth.conformance;

import java.util.Map;
import java.util.regex.Pattern;

/// What an error says. A caller sees 2,048 characters of it, and never how the server is made.
final class ErrorText {

    private static final Map<String, Pattern> INSIDES = Map.of(
            "a Python traceback",
            Pattern.compile("Traceback \\(most recent call last\\)|File \"[^\"\n]+\", line \\d+"),
            "a Java stack trace",
            Pattern.compile("\\bat [\\w$.<>/@-]+\\(([\\w$]+\\.(java|kt|scala|groovy)(:\\d+)?|Native Method|Unknown"
                    + " Source)\\)"),
            "a JavaScript stack trace",
            Pattern.compile("\\bat [^\n]*(/|file:|node:)[^\n]*:\\d+:\\d+\\)?"),
            "the text of a null pointer",
            Pattern.compile("NullPointerException|Cannot (invoke|read|load|store|assign|enter|throw) [^\n]+"
                    + " because [^\n]+ is null|'NoneType' object"));

    private ErrorText() {}

    /// Ends a check whose error says too much, or shows the server's insides.
    static void expectPlain(Answer answer) throws Check.Missed {
        int length = answer.text().length();
        Check.expect(
                length <= Container.LONGEST_MESSAGE, answer.status() + " with " + length + " characters of a message");
        // As it stands in JSON or HTML.
        var text = answer.text()
                .replace("\\n", "\n")
                .replace("\\t", "\t")
                .replace("\\\"", "\"")
                .replace("&#34;", "\"")
                .replace("&#39;", "'")
                .replace("&quot;", "\"")
                .replace("&lt;", "<")
                .replace("&gt;", ">");
        for (var inside : INSIDES.entrySet()) {
            Check.expect(
                    !inside.getValue().matcher(text).find(),
                    answer.status() + " with " + inside.getKey() + ": " + answer.shown());
        }
    }
}
