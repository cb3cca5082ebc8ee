package dev.berth.transform.filter;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import java.util.List;
import java.util.OptionalInt;

/// A step of a [JsonPathFilter], from a value to those within it.
public sealed interface PathStep {

    /// `.name` or `['name']`; `['a','b']` where another step follows.
    record Members(List<String> names) implements PathStep {}

    /// `['a','b']` as the last step: an object of these members.
    record Subset(List<String> names) implements PathStep {}

    /// `[0]`, `[0,-1]`, `[1:]` or `[0,5:]`.
    record Elements(List<Selector> selectors) implements PathStep {}

    /// `.*` or `[*]`.
    record All() implements PathStep {}

    /// Adds what this step selects of a value.
    ///
    /// @throws BadInputException when that is not there
    default void select(JsonNode value, List<JsonNode> selected) {
        switch (this) {
            case Members(var names) -> names.forEach(name -> selected.add(member(value, name)));
            case Subset(var names) -> {
                var object = JsonNodeFactory.instance.objectNode();
                names.forEach(name -> object.set(name, member(value, name)));
                selected.add(object);
            }
            case Elements(var selectors) -> selectors.forEach(selector -> addElements(value, selector, selected));
            case All() -> {
                if (!value.isContainerNode()) {
                    throw bad(value, "an object or a list");
                }
                value.forEach(selected::add);
            }
        }
    }

    /// Whether the result is a list, even of one.
    default boolean givesList() {
        return switch (this) {
            case Members(var names) -> names.size() > 1;
            case Subset _ -> false;
            case Elements(var selectors) ->
                selectors.size() > 1 || selectors.getFirst().isSlice();
            case All() -> true;
        };
    }

    /// The elements of a list from one number up to another. Numbers below 0 count from the list's
    /// end, and what is outside of the list is cut off.
    ///
    /// @param text ends the sentence "expected a list with …"
    record Selector(OptionalInt start, OptionalInt end, boolean isInclusive, boolean isSlice, String text) {

        static Selector index(int index) {
            var number = OptionalInt.of(index);
            return new Selector(number, number, true, false, "the index " + index);
        }

        static Selector slice(OptionalInt start, OptionalInt end, boolean isInclusive) {
            var text = "elements in %s:%s".formatted(text(start), text(end));
            return new Selector(start, end, isInclusive, true, text);
        }

        private static String text(OptionalInt number) {
            return number.isEmpty() ? "" : Integer.toString(number.getAsInt());
        }

        int from(int size) {
            return start.isEmpty() ? 0 : within(start.getAsInt(), 0, size);
        }

        int to(int size) {
            return end.isEmpty() ? size : within(end.getAsInt(), isInclusive ? 1 : 0, size);
        }

        private static int within(int number, long added, int size) {
            return (int) Math.clamp((number < 0 ? (long) size + number : number) + added, 0L, size);
        }
    }

    private static void addElements(JsonNode value, Selector selector, List<JsonNode> selected) {
        if (!value.isArray()) {
            throw bad(value, "a list");
        }
        int from = selector.from(value.size());
        int to = selector.to(value.size());
        if (from >= to) {
            throw bad(value, "a list with " + selector.text());
        }
        for (int i = from; i < to; i++) {
            selected.add(value.get(i));
        }
    }

    private static JsonNode member(JsonNode value, String name) {
        var member = value.get(name);
        if (member == null) {
            throw bad(value, "an object with the member " + Excerpt.quoted(name));
        }
        return member;
    }

    private static BadInputException bad(JsonNode value, String expected) {
        var found = value.isArray() ? "a list of " + value.size() : value.isPojo() ? "a number" : Excerpt.of(value);
        return new BadInputException("found %s, expected %s".formatted(found, expected));
    }
}
