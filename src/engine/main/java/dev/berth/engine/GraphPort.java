package dev.berth.engine;

import dev.berth.hooks.ElementType;
import java.util.List;
import java.util.Optional;

/// An input or an output of a model, as far as its file tells.
///
/// @param type what its elements are; empty: the file does not tell
/// @param shape the lengths of its dimensions, -1 for any length, none for a number alone; empty: the file does
///   not tell
/// @param symbols the names that the file has for those dimensions; empty texts for those without one
/// @param hasValue whether it has a value by itself: an input with a default, an output of one shape that no input
///   reaches
public record GraphPort(
        String name,
        Optional<ElementType> type,
        Optional<List<Integer>> shape,
        List<String> symbols,
        boolean hasValue) {

    public GraphPort {
        shape = shape.map(List::copyOf);
        symbols = List.copyOf(symbols);
    }

    /// One of which the file tells the name alone.
    public static GraphPort named(String name, boolean hasValue) {
        return new GraphPort(name, Optional.empty(), Optional.empty(), List.of(), hasValue);
    }
}
