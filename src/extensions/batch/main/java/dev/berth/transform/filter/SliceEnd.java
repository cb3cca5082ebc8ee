package dev.berth.transform.filter;

/// How a filter reads the second number of a slice. SageMaker's documents contradict each other:
/// the developer guide's prose takes `$[1:4]` for the second to the fifth column, its table of
/// operators calls it the `slice()` of arrays.
public enum SliceEnd {
    /// `$[1:4]` is the elements 1, 2 and 3.
    EXCLUSIVE,
    /// `$[1:4]` is the elements 1, 2, 3 and 4.
    INCLUSIVE
}
