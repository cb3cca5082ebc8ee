package dev.berth.content;

import java.util.HashMap;
import java.util.Locale;
import java.util.Map;

/// Gives files names that no other one has, also where capital letters do not count. One thread.
public final class UniqueNames {

    /// The names that were given, and the last number that was given to each.
    private final Map<String, Integer> given = new HashMap<>();

    /// The name itself, or with the next number from 2 on that makes it a new one: `A1.png`,
    /// `A1-2.png`.
    public String name(String wanted) {
        var last = given.putIfAbsent(key(wanted), 1);
        if (last == null) {
            return wanted;
        }
        int dot = wanted.lastIndexOf('.');
        int end = dot < 0 ? wanted.length() : dot;
        for (int number = last + 1; ; number++) {
            var name = "%s-%d%s".formatted(wanted.substring(0, end), number, wanted.substring(end));
            if (given.putIfAbsent(key(name), 1) == null) {
                given.put(key(wanted), number);
                return name;
            }
        }
    }

    private static String key(String name) {
        return name.toLowerCase(Locale.ROOT);
    }
}
