package dev.berth.conformance;

import java.io.IOException;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;

/// Whether answers are the same as far as the same request can have the same answer. Ids and times
/// of day differ each time, and numbers in their last digits where records share a batch.
final class Likeness {

    private static final double TOLERANCE = 1e-3;

    private static final double NEARLY_ZERO = 1e-6;

    /// The parts that differed between two answers to one request.
    private final Set<String> varying = new HashSet<>();

    private final int parts;

    /// @param one an answer
    /// @param again another to the same request
    Likeness(String one, String again) {
        var first = parts(one);
        var second = parts(again);
        var all = new HashSet<>(first.keySet());
        all.addAll(second.keySet());
        for (var part : all) {
            if (!first.containsKey(part) || !second.containsKey(part) || !same(first.get(part), second.get(part))) {
                varying.add(part);
            }
        }
        parts = all.size();
    }

    /// Whether anything is the same in both answers. Without that nothing can be compared.
    boolean isKnown() {
        return parts > varying.size();
    }

    /// What varies, in words; empty where nothing does.
    String note() {
        return varying.isEmpty() ? "" : ", but for " + String.join(", ", new TreeSet<>(varying));
    }

    /// Whether two answers are the same but for the parts that vary.
    boolean alike(String one, String other) {
        var first = parts(one);
        var second = parts(other);
        first.keySet().removeAll(varying);
        second.keySet().removeAll(varying);
        return first.keySet().equals(second.keySet())
                && first.entrySet().stream().allMatch(part -> same(part.getValue(), second.get(part.getKey())));
    }

    private static boolean same(Object one, Object other) {
        if (one instanceof BigDecimal first && other instanceof BigDecimal second) {
            double difference = first.subtract(second).abs().doubleValue();
            double larger = first.abs().max(second.abs()).doubleValue();
            return difference <= Math.max(NEARLY_ZERO, TOLERANCE * larger);
        }
        return one == null ? other == null : one.equals(other);
    }

    /// The values of JSON by their paths; the fields of each line of other text by their places.
    private static Map<String, Object> parts(String text) {
        var parts = new LinkedHashMap<String, Object>();
        try {
            flatten("", Json.read(text), parts);
            return parts;
        } catch (IOException e) {
            parts.clear();
        }
        var lines = text.lines().filter(line -> !line.isBlank()).toList();
        for (int i = 0; i < lines.size(); i++) {
            try {
                flatten("line " + i, Json.read(lines.get(i)), parts);
            } catch (IOException e) {
                fields("line " + i, lines.get(i), parts);
            }
        }
        return parts;
    }

    private static void flatten(String path, Object json, Map<String, Object> parts) {
        if (json instanceof Map<?, ?> map && !map.isEmpty()) {
            map.forEach((name, value) -> flatten(path + "." + name, value, parts));
        } else if (json instanceof List<?> list && !list.isEmpty()) {
            for (int i = 0; i < list.size(); i++) {
                flatten(path + "[" + i + "]", list.get(i), parts);
            }
        } else {
            parts.put(path, json);
        }
    }

    private static void fields(String path, String line, Map<String, Object> parts) {
        var fields = new ArrayList<>(List.of(line.split("[,;\\s]+")));
        for (int i = 0; i < fields.size(); i++) {
            parts.put(path + ", field " + i, number(fields.get(i)));
        }
    }

    private static Object number(String field) {
        try {
            return new BigDecimal(field);
        } catch (NumberFormatException e) {
            return field;
        }
    }

    /// The text of a body, byte by byte where it is no text.
    static String text(Answer answer) {
        var text = answer.text();
        return text.indexOf('\ufffd') < 0 ? text : new String(answer.body(), StandardCharsets.ISO_8859_1);
    }
}
