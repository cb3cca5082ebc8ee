package dev.berth.batching;

import java.util.List;

/// What a request has predicted: its records, or the pieces of those that were split. Each piece
/// waits and is predicted by itself; messages and metrics count records.
///
/// @param values the pieces in the order of their records; at least one
/// @param lengths what each costs in a batch, in tokens
/// @param counts how many pieces each record has; at least one each
public record Pieces<I>(List<I> values, int[] lengths, int[] counts) {}
