package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import dev.berth.content.Excerpt;
import dev.berth.hooks.BadInputException;
import java.util.List;
import java.util.OptionalInt;

/// A step of a [JsonPathFilter], from a value to those within it.
sealed interface PathStep {

  /// Adds what this step selects of a value.
  ///
  /// @throws BadInputException when that is not there
  void select(JsonNode value, List<JsonNode> selected);

  /// Whether the result is a list, even of one.
  boolean givesList();

  /// `.name` or `['name']`; `['a','b']` where another step follows.
  record Members(List<String> names) implements PathStep {

    public Members {
      names = List.copyOf(names);
    }

    @Override
    public void select(JsonNode value, List<JsonNode> selected) {
      names.forEach(name -> selected.add(member(value, name)));
    }

    @Override
    public boolean givesList() {
      return names.size() > 1;
    }
  }

  /// `['a','b']` as the last step: an object of these members.
  record Subset(List<String> names) implements PathStep {

    public Subset {
      names = List.copyOf(names);
    }

    @Override
    public void select(JsonNode value, List<JsonNode> selected) {
      var object = JsonNodeFactory.instance.objectNode();
      names.forEach(name -> object.set(name, member(value, name)));
      selected.add(object);
    }

    @Override
    public boolean givesList() {
      return false;
    }
  }

  /// `[0]`, `[0,-1]`, `[1:]` or `[0,5:]`.
  record Elements(List<Selector> selectors) implements PathStep {

    public Elements {
      selectors = List.copyOf(selectors);
    }

    @Override
    public void select(JsonNode value, List<JsonNode> selected) {
      if (!value.isArray()) {
        throw bad(value, "a list");
      }
      for (var selector : selectors) {
        int from = selector.from(value.size());
        int to = selector.to(value.size());
        if (from < 0 || from >= to || to > value.size()) {
          throw bad(value, selector.expected());
        }
        for (int i = from; i < to; i++) {
          selected.add(value.get(i));
        }
      }
    }

    @Override
    public boolean givesList() {
      return selectors.size() > 1 || selectors.getFirst() instanceof Selector.Slice;
    }
  }

  /// `.*` or `[*]`.
  record All() implements PathStep {

    @Override
    public void select(JsonNode value, List<JsonNode> selected) {
      if (!value.isContainerNode()) {
        throw bad(value, "an object or a list");
      }
      value.forEach(selected::add);
    }

    @Override
    public boolean givesList() {
      return true;
    }
  }

  /// Which elements of a list of some size: those from one index up to another, which does not count.
  sealed interface Selector {

    /// Below 0 where there is none such.
    int from(int size);

    int to(int size);

    /// To end the sentence "expected …".
    String expected();

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
      public String expected() {
        return "a list with the index " + index;
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
        return end.isEmpty() ? size : within(end.getAsInt(), sliceEnd == SliceEnd.INCLUSIVE ? 1 : 0, size);
      }

      @Override
      public String expected() {
        return "a list with elements in %s:%s".formatted(text(start), text(end));
      }

      private static int within(int number, long added, int size) {
        return (int) Math.clamp((number < 0 ? (long) size + number : number) + added, 0L, size);
      }

      private static String text(OptionalInt number) {
        return number.isEmpty() ? "" : Integer.toString(number.getAsInt());
      }
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
