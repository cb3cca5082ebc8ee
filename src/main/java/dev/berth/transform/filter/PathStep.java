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
      case Elements(var selectors) ->
          selectors.forEach(selector -> addElements(value, selector, selected));
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
          selectors.size() > 1 || selectors.getFirst() instanceof Selector.Slice;
      case All() -> true;
    };
  }

  /// Which elements of a list of some size: those from one index up to another, which does not
  /// count. Its text ends the sentence "expected a list with …".
  sealed interface Selector {

    /// Below 0 where there is none such.
    int from(int size);

    int to(int size);

    record Index(int index) implements Selector {

      @Override
      public int from(int size) {
        return index < 0 ? size + index : index;
      }

      @Override
      public int to(int size) {
        return from(size) + 1;
      }

      @Override
      public String toString() {
        return "the index " + index;
      }
    }

    /// Numbers below 0 count from the list's end. What is outside of the list is cut off.
    record Slice(OptionalInt start, OptionalInt end, SliceEnd sliceEnd) implements Selector {

      @Override
      public int from(int size) {
        return start.isEmpty() ? 0 : within(start.getAsInt(), 0, size);
      }

      @Override
      public int to(int size) {
        return end.isEmpty()
            ? size
            : within(end.getAsInt(), sliceEnd == SliceEnd.INCLUSIVE ? 1 : 0, size);
      }

      private static int within(int number, long added, int size) {
        return (int) Math.clamp((number < 0 ? (long) size + number : number) + added, 0L, size);
      }

      @Override
      public String toString() {
        return "elements in %s:%s".formatted(text(start), text(end));
      }

      private static String text(OptionalInt number) {
        return number.isEmpty() ? "" : Integer.toString(number.getAsInt());
      }
    }
  }

  private static void addElements(JsonNode value, Selector selector, List<JsonNode> selected) {
    if (!value.isArray()) {
      throw bad(value, "a list");
    }
    int from = selector.from(value.size());
    int to = selector.to(value.size());
    if (from < 0 || from >= to || to > value.size()) {
      throw bad(value, "a list with " + selector);
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
    var found =
        value.isArray()
            ? "a list of " + value.size()
            : value.isPojo() ? "a number" : Excerpt.of(value);
    return new BadInputException("found %s, expected %s".formatted(found, expected));
  }
}
