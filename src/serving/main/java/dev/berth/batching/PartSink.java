package dev.berth.batching;

/// Where the predictions of one request go, as they are made, and the time that they may take.
///
/// @param <O> a prediction, or a part of one
public interface PartSink<O> {

    /// Takes a prediction, or the next part of one, on the thread of a worker. Must not block; what it
    /// throws fails the request.
    ///
    /// @param index the piece's place in the request
    void take(int index, O part) throws Exception;

    /// Whether it takes more parts now. After it said no, [Batcher#ask] is called once it does.
    /// Called under the lock of the model's queue, so it takes no other one.
    default boolean hasRoom() {
        return true;
    }

    /// When the request's time is over. Each part may put it off. Called as [#hasRoom] is.
    long deadlineNanos();
}
