package dev.berth.hooks;

import java.time.Duration;

/// The prediction of one record on its way to the caller, part by part. [StreamingHandler#stepFn]
/// gets one for each record of its batch.
///
/// Used on the thread of the step while `stepFn` runs, and not kept after that; only [#isWanted] may
/// be called by any thread.
///
/// @param <S> what [StreamingHandler#beginFn] returned for the record
/// @param <O> a part
public interface PartStream<S, O> {

    /// What `beginFn` returned for the record, the same object in every step.
    S state();

    /// Sends a part on its way. It leaves at once where the answer is streamed, and waits for the
    /// others where it is not.
    ///
    /// Never blocks. A stream whose reader does not keep up takes no part in further steps until the
    /// reader has caught up.
    ///
    /// @throws IllegalStateException after [#end] or [#fail]
    void emit(O part);

    /// Says that the record has all its parts. It leaves the batch, and a record that waits takes its
    /// place.
    void end();

    /// Fails the request of this record and no other. Throwing from `stepFn` does the same when the
    /// batch has one record.
    ///
    /// @param cause means for the caller what it means when `predictFn` throws it, such as a
    ///   [BadInputException]
    void fail(Exception cause);

    /// Leaves this record out of the steps of the time that comes, as when there is nothing to say
    /// yet. It costs no thread.
    void pause(Duration time);

    /// Whether somebody still waits for the record. A step that takes long may look at it.
    boolean isWanted();
}
