/// One record of a request: what is wanted, or a bad line that keeps its place among the others.
sealed interface Query {

    /// @param user the user's row in the vectors
    /// @param k how many items, at least 1
    /// @param alone whether it came as one JSON object, which is answered by one
    record Wanted(int user, int k, boolean alone) implements Query {}

    /// Both the query and its answer.
    ///
    /// @param message what is wrong with the line
    record Rejected(String message) implements Query, Answer {}
}
