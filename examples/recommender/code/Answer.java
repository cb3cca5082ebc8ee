/// The prediction for one query.
sealed interface Answer permits Answer.Best, Query.Rejected {

    /// @param items the best first; [Ranking] says what the numbers are
    record Best(Query.Wanted query, long[] items) implements Answer {}
}
