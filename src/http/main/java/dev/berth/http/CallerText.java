package dev.berth.http;

import dev.berth.hooks.MediaType;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import java.util.regex.Pattern;

/// A caller's text inside a message: short, and quoted. And which bodies are text.
public final class CallerText {

    private static final int MAX_LENGTH = 100;
    private static final int MAX_REASON = 200;
    private static final int MAX_SEARCHED = 2000;

    /// A problem as messages say it: `line 3: found "x", expected a number`. What the caller sent is
    /// the second group.
    private static final Pattern PROBLEM = Pattern.compile("(?s)(?:(.*?): )?found .*[,;] (expected .*)");

    /// From the first quote that is no apostrophe.
    private static final Pattern QUOTE = Pattern.compile("(?s)(?:[\"`“‘«]|(?<![\\p{L}\\p{N}])').*");

    /// Not that of a place in hooks, `Inference.java:17`.
    private static final String COLON = "(?<!\\.java):";

    private static final Pattern PLAIN = Pattern.compile("[A-Za-z0-9._:/+=@-]+…?");

    private CallerText() {}

    /// A message for the log, which never holds payloads: its place and what was expected, without
    /// what was found. Of a message of another form it is the beginning, up to a colon or a quote.
    public static String withoutExcerpts(String message) {
        // Cut, because a message may quote a whole payload, and the pattern takes the square of its
        // length.
        var text = message == null ? "" : cut(message, MAX_SEARCHED);
        var problem = PROBLEM.matcher(text);
        if (problem.matches()) {
            var place = problem.group(1) == null ? "" : words(problem.group(1));
            text = place.isEmpty() ? problem.group(2) : place + ": " + problem.group(2);
        } else {
            text = words(text.split(COLON, 2)[0]);
        }
        return cut(text, MAX_REASON);
    }

    private static String words(String text) {
        return QUOTE.matcher(text).replaceFirst("").strip();
    }

    /// What a client sent, for the log: as it is where it is made of plain characters, else in
    /// quotes. It can't be taken for a part of the line then.
    public static String logged(String text) {
        var cut = cut(text, MAX_LENGTH);
        return PLAIN.matcher(cut).matches()
                ? cut
                : '"' + cut.replace("\\", "\\\\").replace("\"", "\\\"") + '"';
    }

    /// What a client sent; nothing where it is null.
    public static String found(String text) {
        return text == null ? "nothing" : quoted(text);
    }

    /// Nothing where the bytes are not UTF-8.
    public static Optional<String> ofUtf8(byte[] bytes) {
        try {
            return Optional.of(StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString());
        } catch (CharacterCodingException _) {
            return Optional.empty();
        }
    }

    /// Whether bodies of a type are text.
    public static boolean isText(MediaType type) {
        return type.type().equals("text")
                || type.subtype().startsWith("json")
                || type.subtype().endsWith("+json");
    }

    public static String quoted(String text) {
        return '"' + cut(text, MAX_LENGTH) + '"';
    }

    /// At most `length` characters, and never half a surrogate pair.
    public static String cut(String text, int length) {
        if (text.length() <= length) {
            return text;
        }
        int end = Character.isHighSurrogate(text.charAt(length - 1)) ? length - 1 : length;
        return text.substring(0, end) + "…";
    }
}
