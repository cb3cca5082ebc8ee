package dev.berth.transform.filter;

import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import dev.berth.transform.filter.PathStep.Selector;
import java.util.ArrayList;
import java.util.List;
import java.util.OptionalInt;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// Reads the steps of a filter from left to right. One use, one thread.
final class JsonPathFilterParser {

    private static final int MAX_LENGTH = 63;

    private static final Pattern ROOT = Pattern.compile("\\$");
    private static final Pattern ALL = Pattern.compile("\\.?\\[ *\\* *\\]|\\.\\*");
    private static final Pattern MEMBER = Pattern.compile("\\.([^.,:;*?@$\\[\\]()'\"\\s]+)");
    private static final Pattern OPEN = Pattern.compile("\\.?\\[ *");
    private static final Pattern QUOTED_NAME = Pattern.compile("'([^']+)' *");
    private static final Pattern SLICE = Pattern.compile("(-?\\d+)? *: *(-?\\d+)? *");
    private static final Pattern INDEX = Pattern.compile("(-?\\d+) *");
    private static final Pattern COMMA = Pattern.compile(", *");
    private static final Pattern CLOSE = Pattern.compile("\\]");
    private static final Pattern PATH = Pattern.compile("[.\\[\\]]");

    private final String text;
    private final boolean inclusiveSlices;
    private final Matcher matcher;
    private int position;

    JsonPathFilterParser(String text, boolean inclusiveSlices) {
        this.text = text;
        this.inclusiveSlices = inclusiveSlices;
        this.matcher = ROOT.matcher(text);
    }

    List<PathStep> parse() {
        int length = text.codePointCount(0, text.length());
        if (length > MAX_LENGTH) {
            throw new BadInputException("found %d characters, expected at most %d".formatted(length, MAX_LENGTH));
        }
        if (!takes(ROOT)) {
            throw bad("$ at the beginning");
        }
        var steps = new ArrayList<PathStep>();
        while (position < text.length()) {
            steps.add(step());
        }
        return steps;
    }

    private PathStep step() {
        if (takes(ALL)) {
            return new PathStep.All();
        }
        if (takes(MEMBER)) {
            return new PathStep.Members(List.of(matcher.group(1)));
        }
        if (takes(OPEN)) {
            return text.startsWith("'", position) ? names() : elements();
        }
        throw bad(".name, ['name'], [0], [1:] or [*]");
    }

    private PathStep names() {
        var names = new ArrayList<String>();
        do {
            int start = position;
            if (!takes(QUOTED_NAME)) {
                throw bad("a name in single quotes");
            }
            var name = matcher.group(1);
            if (PATH.matcher(name).find()) {
                position = start;
                throw bad("a name without a path in it");
            }
            names.add(name);
        } while (takes(COMMA));
        close();
        boolean isLast = position == text.length();
        return names.size() > 1 && isLast ? new PathStep.Subset(names) : new PathStep.Members(names);
    }

    private PathStep elements() {
        var selectors = new ArrayList<Selector>();
        do {
            selectors.add(selector());
        } while (takes(COMMA));
        close();
        return new PathStep.Elements(selectors);
    }

    private Selector selector() {
        int start = position;
        if (takes(SLICE)) {
            var slice = matcher.toMatchResult();
            if (slice.group(1) == null && slice.group(2) == null) {
                position = start;
                throw bad("a slice that has a start or an end, such as 1: or :5");
            }
            return Selector.slice(number(slice, 1), number(slice, 2), inclusiveSlices);
        }
        if (takes(INDEX)) {
            return Selector.index(number(matcher.toMatchResult(), 1).orElseThrow());
        }
        throw bad("an index, a slice or a name in single quotes");
    }

    private void close() {
        if (!takes(CLOSE)) {
            throw bad(", or ]");
        }
    }

    private OptionalInt number(MatchResult match, int group) {
        if (match.group(group) == null) {
            return OptionalInt.empty();
        }
        try {
            return OptionalInt.of(Integer.parseInt(match.group(group)));
        } catch (NumberFormatException e) {
            position = match.start(group);
            throw bad("a number of 32 bits");
        }
    }

    /// Moves on behind what matches here, if it does.
    private boolean takes(Pattern pattern) {
        matcher.usePattern(pattern).region(position, text.length());
        boolean matches = matcher.lookingAt();
        position = matches ? matcher.end() : position;
        return matches;
    }

    private BadInputException bad(String expected) {
        return new BadInputException("found %s at offset %d of %s, expected %s"
                .formatted(
                        position == text.length() ? "the end" : Excerpt.quoted(text.substring(position)),
                        position,
                        Excerpt.quoted(text),
                        expected));
    }
}
