package dev.berth.transform.filter;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/// `DataProcessing.InputFilter` or `OutputFilter`: the part of JSONPath that SageMaker knows.
///
/// ```
/// $                     everything
/// $.name  $['name']     a member's value
/// $['a','b']            an object of just these members, in this order
/// $[0]  $[-1]           an element; -1 is the last
/// $[0,2]  $[1:]         a list of these elements; [0,5:] mixes both
/// $.*  $[*]             a list of all values of an object or a list
/// ```
///
/// Steps may follow each other: `$.a['b','c']`. Where a step that gives a list is followed by
/// another, the list holds what that gives for each. A missing name or index is an error, as
/// SageMaker has it; JSONPath libraries leave it out. A slice ends with the list, as the `slice()`
/// of arrays does; one that takes nothing is an error.
public final class JsonPathFilter {

    private static final int MAX_LENGTH = 63;

    /// A name in brackets holds no path.
    private static final String QUOTED_NAME = "'([^'.\\[\\]]+)'";

    private static final String NUMBER = "-?\\d{1,18}";
    private static final String SELECTOR = "(?:%1$s *: *(?:%1$s)?|: *%1$s|%1$s) *".formatted(NUMBER);
    private static final Pattern STEP = Pattern.compile(
            "\\.\\*|\\.?\\[ *\\* *]|\\.(?<name>[^.,:;*?@$\\[\\]()'\"\\s]+)|\\.?\\[ *(?:(?<names>%1$s *(?:, *%1$s *)*)|(?<elements>%2$s(?:, *%2$s)*))]"
                    .formatted(QUOTED_NAME, SELECTOR));
    private static final Pattern NAME = Pattern.compile(QUOTED_NAME);

    private final String text;
    private final boolean inclusiveSlices;
    private final List<Function<JsonNode, Stream<JsonNode>>> steps = new ArrayList<>();

    /// Whether the result is a list, even of one.
    private boolean givesList;

    private boolean isForRows = true;

    private JsonPathFilter(String text, boolean inclusiveSlices) {
        this.text = text;
        this.inclusiveSlices = inclusiveSlices;
        int length = text.codePointCount(0, text.length());
        if (length > MAX_LENGTH) {
            throw new BadInputException("found %d characters, expected at most %d".formatted(length, MAX_LENGTH));
        }
        if (!text.startsWith("$")) {
            throw bad(0, "$ at the beginning");
        }
        var step = STEP.matcher(text);
        for (int position = 1; position < text.length(); position = step.end()) {
            if (!step.region(position, text.length()).lookingAt()) {
                throw bad(position, ".name, ['name'], [0], [1:] or [*]");
            }
            add(step.toMatchResult());
        }
    }

    /// @throws BadInputException with what was found and expected, to follow the name of the field
    ///   that holds the text
    /// @param inclusiveSlices whether `$[1:4]` is the elements 1 to 4, or 1 to 3. SageMaker's documents
    ///   contradict each other: the developer guide's prose has the one, its table of operators the other
    public static JsonPathFilter parse(String text, boolean inclusiveSlices) {
        return new JsonPathFilter(text, inclusiveSlices);
    }

    private BadInputException bad(int position, String expected) {
        return new BadInputException("found %s at offset %d of %s, expected %s"
                .formatted(
                        position == text.length() ? "the end" : Excerpt.quoted(text.substring(position)),
                        position,
                        Excerpt.quoted(text),
                        expected));
    }

    private void add(MatchResult step) {
        var name = step.group("name");
        var quoted = step.group("names");
        var elements = step.group("elements");
        isForRows = isForRows && steps.isEmpty() && name == null && quoted == null;
        if (elements != null) {
            var selectors = Arrays.stream(elements.replace(" ", "").split(","))
                    .map(selector -> Selector.of(selector, inclusiveSlices))
                    .toList();
            givesList |= selectors.size() > 1 || elements.contains(":");
            steps.add(value -> selectors.stream().flatMap(selector -> selector.of(value)));
        } else if (name == null && quoted == null) {
            givesList = true;
            steps.add(JsonPathFilter::values);
        } else {
            var names = name != null
                    ? List.of(name)
                    : NAME.matcher(quoted).results().map(each -> each.group(1)).toList();
            boolean isObject = names.size() > 1 && step.end() == text.length();
            givesList |= names.size() > 1 && !isObject;
            steps.add(
                    isObject
                            ? value -> Stream.of(object(value, names))
                            : value -> names.stream().map(each -> member(value, each)));
        }
    }

    public String text() {
        return text;
    }

    /// Whether this is `$`.
    public boolean selectsAll() {
        return steps.isEmpty();
    }

    /// Whether this may be applied to a row of CSV, whose cells have no parts and no names.
    public boolean isForRows() {
        return isForRows;
    }

    /// What this selects.
    ///
    /// @throws BadInputException with what was found and expected when that is not there
    public JsonNode apply(JsonNode value) {
        var selected = Stream.of(value);
        for (var step : steps) {
            selected = selected.flatMap(step);
        }
        var nodes = selected.toList();
        return givesList ? JsonNodeFactory.instance.arrayNode().addAll(nodes) : nodes.getFirst();
    }

    /// Says what it selects: outputs depend on it.
    @Override
    public String toString() {
        return inclusiveSlices ? text + " with inclusive slices" : text;
    }

    /// Elements of a list. Numbers below 0 count from its end, and what is outside of it is cut off.
    ///
    /// @param text an index, or a slice of whose numbers one may be missing
    private record Selector(String text, long start, long end, boolean isInclusive) {

        private static Selector of(String text, boolean inclusiveSlices) {
            var numbers = text.split(":", -1);
            return numbers.length == 1
                    ? new Selector("the index " + text, Long.parseLong(text), Long.parseLong(text), true)
                    : new Selector(
                            "elements in " + text,
                            numbers[0].isEmpty() ? 0 : Long.parseLong(numbers[0]),
                            numbers[1].isEmpty() ? Long.MAX_VALUE - 1 : Long.parseLong(numbers[1]),
                            inclusiveSlices);
        }

        private Stream<JsonNode> of(JsonNode list) {
            if (!list.isArray()) {
                throw notThere(list, "a list");
            }
            long from = within(start, 0, list.size());
            long to = within(end, isInclusive ? 1 : 0, list.size());
            if (from >= to) {
                throw notThere(list, "a list with " + text);
            }
            return list.valueStream().skip(from).limit(to - from);
        }

        private static long within(long number, int added, int size) {
            return Math.clamp((number < 0 ? size + number : number) + added, 0, size);
        }
    }

    private static Stream<JsonNode> values(JsonNode value) {
        if (!value.isContainerNode()) {
            throw notThere(value, "an object or a list");
        }
        return value.valueStream();
    }

    private static JsonNode object(JsonNode value, List<String> names) {
        var object = JsonNodeFactory.instance.objectNode();
        names.forEach(name -> object.set(name, member(value, name)));
        return object;
    }

    private static JsonNode member(JsonNode value, String name) {
        var member = value.get(name);
        if (member == null) {
            throw notThere(value, "an object with the member " + Excerpt.quoted(name));
        }
        return member;
    }

    private static BadInputException notThere(JsonNode value, String expected) {
        var found = switch (value.getNodeType()) {
            case ARRAY -> "a list of " + value.size();
            case OBJECT ->
                "an object with "
                        + Excerpt.list(
                                value.propertyStream().map(Map.Entry::getKey).toList());
            case POJO -> "a number";
            default -> Excerpt.of(value);
        };
        return new BadInputException("found %s, expected %s".formatted(found, expected));
    }
}
