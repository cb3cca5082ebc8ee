package dev.berth.batching;

/// Where the parts of one request's predictions go as they are made, and the time that they may
/// take.
///
/// @param <O> a part
public interface PartSink<O> {

    /// Takes a part, on the thread of a worker. Must not block; what it throws fails the request.
    ///
    /// @param index the record's place in the request
    void take(int index, O part) throws Exception;

    /// Whether it takes more now. Who says no has [Submission#ask] called later. Called under
    /// the lock of the [WorkerPool], so it takes no other one.
    default boolean hasRoom() {
        return true;
    }

    /// When the request's time is over. Each part may put it off. Called as [#hasRoom] is.
    long deadlineNanos();

    /// For a request that is answered as a whole.
    record None<O>(long deadlineNanos) implements PartSink<O> {

        @Override
        public void take(int index, O part) {
            throw new IllegalStateException("found a part of a prediction, expected the whole");
        }
    }
}
