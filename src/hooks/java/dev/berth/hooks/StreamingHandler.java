package dev.berth.hooks;

import java.util.List;
import java.util.Optional;

/// A handler whose predictions leave part by part, as the tokens of a text do.
///
/// ```
/// record ──beginFn──▶ state ──stepFn──▶ part ──partFn──▶ bytes, at once
///                       └───stepFn──▶ part …           until end()
/// ```
///
/// [#stepFn] makes one step for every record of a batch, whichever requests they are from. A record
/// that ends leaves the batch before the next step, and one that waits takes its place (continuous
/// batching). So a short answer never waits for a long one.
///
/// ```java
/// public final class Words implements StreamingHandler<Void, String, String, Iterator<String>> {
///   public Void modelFn(ModelContext context) { return null; }
///   public List<String> inputFn(InvocationRequest request) throws IOException { return List.of(request.text()); }
///   public Iterator<String> beginFn(String record, Void model) { return List.of(record.split(" ")).iterator(); }
///   public void stepFn(List<PartStream<Iterator<String>, String>> streams, Void model) {
///     for (var stream : streams) {
///       stream.emit(stream.state().next());
///       if (!stream.state().hasNext()) {
///         stream.end();
///       }
///     }
///   }
///   public byte[] partFn(String part, int record, InvocationRequest request) {
///     return part.getBytes(StandardCharsets.UTF_8);
///   }
///   public String join(String record, List<String> parts) { return String.join(" ", parts); }
///   public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
///     return InvocationResponse.of(String.join("\n", predictions), MediaType.TEXT);
///   }
/// }
/// ```
///
/// The caller chooses. Whoever accepts `text/event-stream` or `application/jsonlines` gets the
/// parts, as [#streamedAs] has it. Everybody else gets one body: [#join] puts the parts of each
/// record together, and [#outputFn] encodes them. Both kinds share batches.
///
/// `beginFn` and `stepFn` run on a thread of workers, one step of the model at a time, as `predictFn` does,
/// and so does `partFn`, which should be quick. When `stepFn` throws for a batch of several, each
/// stream that was given nothing in this step is tried by itself, so that only the culprit fails.
///
/// A failure before the first part is an ordinary error. After it, an event stream ends with an
/// event `error`, JSON Lines with a line `{"error": …}`, and any other type with a connection that
/// is cut off.
///
/// @param <M> the loaded model, one per worker
/// @param <I> a record
/// @param <O> a part of the prediction for a record, and such parts put together
/// @param <S> where a record's prediction stands between two steps, such as its tokens and its
///   key/value cache. If it is [AutoCloseable], it is closed on a worker's thread when the record
///   has ended, in whatever way: also when its reader has gone
public interface StreamingHandler<M, I, O, S> extends InferenceHandler<M, I, O> {

    /// Begins a record's prediction, such as by reading its prompt. What it throws fails this
    /// record's request alone.
    ///
    /// @throws BadInputException when the record is wrong after all: the caller gets 400 with its
    ///   message
    /// @throws InsufficientMemoryException when the accelerator has no room for it: 507
    S beginFn(I record, M model) throws Exception;

    /// Makes one step for each of the streams: emits its next part, or several, or none yet, or ends
    /// it.
    ///
    /// The thread is interrupted when no caller waits for any of the streams.
    ///
    /// @param streams at least one and at most as many as [#maxBatchSize] says, each of another
    ///   record
    /// @throws ModelUnusableException when no later call can succeed: the worker stops
    void stepFn(List<PartStream<S, O>> streams, M model) throws Exception;

    /// Encodes one part for a caller who gets the parts: the data of one event, one line without its
    /// end, or simply the next bytes.
    ///
    /// @param record the number of the part's record in its request, from 0
    byte[] partFn(O part, int record, InvocationRequest request) throws Exception;

    /// Puts the parts of a record together, for a caller who wants one body.
    ///
    /// @param parts in their order; empty where the record ended without one
    @Override
    O join(I record, List<O> parts);

    /// The type in which a request is answered part by part; nothing where it wants one body. By
    /// default the type that the caller accepts, where that is an event stream or JSON Lines.
    ///
    /// A hook that goes by the body, such as by a member `stream`, has [#inputFn] leave it in
    /// [InvocationRequest#attributes]. SageMaker's callers can't say in another way that they want a
    /// stream. Called after `inputFn`.
    default Optional<MediaType> streamedAs(InvocationRequest request) {
        return Optional.of(request.accept().withoutParameters())
                .filter(type -> type.equals(MediaType.EVENT_STREAM) || type.equals(MediaType.JSON_LINES));
    }

    /// The whole predictions of a batch, without a server: for tests and for `serve check`. The
    /// server calls [#stepFn].
    @Override
    default List<O> predictFn(List<I> records, M model) throws Exception {
        return WholeStreams.predict(this, records, model);
    }

    /// How many records share a step: 16 where a handler knows no better, on a CPU too, where a step
    /// for one token takes nearly as long as a step for several.
    @Override
    default int maxBatchSize(Accelerator accelerator) {
        return 16;
    }
}
