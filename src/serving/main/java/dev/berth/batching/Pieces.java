package dev.berth.batching;

import java.util.List;

/// What a request has predicted: its records, or the pieces of those that were split. Each piece
/// waits and is predicted by itself; messages and metrics count records.
///
/// @param records in the order of the request
/// @param values the pieces in the order of their records, mostly the records themselves
/// @param lengths what each piece costs in a batch, in tokens
/// @param counts how many pieces each record has; at least one each
/// @param sizes how many records each record is, and each piece: a block of rows is as many
public record Pieces<I>(List<I> records, List<I> values, int[] lengths, int[] counts, Sizes sizes) {

    public record Sizes(int[] records, int[] pieces) {}
}
