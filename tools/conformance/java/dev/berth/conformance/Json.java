package dev.berth.conformance;

import java.io.IOException;
import java.math.BigDecimal;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// Reads JSON as strictly as RFC 8259 says it. The JDK has no parser, and the kit is to need
/// nothing else.
final class Json {

    private static final int DEEPEST = 1000;

    private final String text;
    private int at;
    private int depth;

    private Json(String text) {
        this.text = text;
    }

    /// @return a [Map], [List], [String], [BigDecimal] or [Boolean]; null for null
    static Object read(String text) throws IOException {
        var json = new Json(text);
        var value = json.value();
        json.next();
        if (json.at < text.length()) {
            throw json.unexpected();
        }
        return value;
    }

    /// What stands at a path of names and indices; null where there is nothing.
    static Object at(Object json, Object... path) {
        var value = json;
        for (var step : path) {
            if (step instanceof Integer index) {
                value = value instanceof List<?> list && index < list.size() ? list.get(index) : null;
            } else {
                value = value instanceof Map<?, ?> map ? map.get(step) : null;
            }
        }
        return value;
    }

    /// Writes a string.
    static String string(String text) {
        var string = new StringBuilder("\"");
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c == '"' || c == '\\') {
                string.append('\\').append(c);
            } else if (c < ' ') {
                string.append("\\u%04x".formatted((int) c));
            } else {
                string.append(c);
            }
        }
        return string.append('"').toString();
    }

    private Object value() throws IOException {
        if (++depth > DEEPEST) {
            throw new IOException("more than " + DEEPEST + " levels");
        }
        var value = switch (next()) {
            case '{' -> object();
            case '[' -> array();
            case '"' -> string();
            case 't' -> word("true", true);
            case 'f' -> word("false", false);
            case 'n' -> word("null", null);
            default -> number();
        };
        depth--;
        return value;
    }

    private Map<String, Object> object() throws IOException {
        var members = new LinkedHashMap<String, Object>();
        at++;
        while (next() != '}' || !members.isEmpty()) {
            if (next() != '"') {
                throw unexpected();
            }
            var name = string();
            take(':');
            members.put(name, value());
            if (next() == '}') {
                break;
            }
            take(',');
        }
        take('}');
        return members;
    }

    private List<Object> array() throws IOException {
        var elements = new ArrayList<>();
        at++;
        while (next() != ']' || !elements.isEmpty()) {
            elements.add(value());
            if (next() == ']') {
                break;
            }
            take(',');
        }
        take(']');
        return elements;
    }

    private String string() throws IOException {
        var string = new StringBuilder();
        at++;
        for (char c = here(); c != '"'; c = here()) {
            if (c < ' ') {
                throw unexpected();
            }
            at++;
            string.append(c == '\\' ? escaped() : c);
        }
        at++;
        return string.toString();
    }

    private char escaped() throws IOException {
        char c = here();
        at++;
        int simple = "\"\\/bfnrt".indexOf(c);
        if (simple >= 0) {
            return "\"\\/\b\f\n\r\t".charAt(simple);
        }
        var digits = c == 'u' ? text.substring(at, Math.min(at + 4, text.length())) : "";
        if (!digits.matches("[0-9a-fA-F]{4}")) {
            throw unexpected();
        }
        at += 4;
        return (char) Integer.parseInt(digits, 16);
    }

    private Object number() throws IOException {
        int start = at;
        while ("+-.0123456789eE".indexOf(here()) >= 0) {
            at++;
        }
        var number = text.substring(start, at);
        if (!number.matches("-?(0|[1-9]\\d*)(\\.\\d+)?([eE][+-]?\\d{1,9})?")) {
            throw unexpected();
        }
        return new BigDecimal(number);
    }

    private Object word(String word, Object value) throws IOException {
        if (!text.startsWith(word, at)) {
            throw unexpected();
        }
        at += word.length();
        return value;
    }

    private void take(char expected) throws IOException {
        if (next() != expected) {
            throw unexpected();
        }
        at++;
    }

    /// The next character that is no white space; NUL, which JSON does not have, behind the end.
    private char next() {
        while (" \t\r\n".indexOf(here()) >= 0) {
            at++;
        }
        return here();
    }

    private char here() {
        return at < text.length() ? text.charAt(at) : '\0';
    }

    private IOException unexpected() {
        return new IOException("no JSON at character " + at);
    }
}
