package dev.berth.hooks;

import java.util.List;
import java.util.Optional;

/// Turns the bytes of a request into the bytes of an answer, in four hooks that read like a Python
/// `inference.py`.
///
/// ```
/// bytes ──inputFn──▶ records ──queue──▶ batch ──predictFn──▶ predictions ──outputFn──▶ bytes
///       hook thread             │       the worker that has the model      │   hook thread
/// ```
///
/// [#modelFn] and [#warmUpFn] run once per worker, before the server says that it is ready. A
/// request that [#inputFn] refuses fails alone: nobody shares its batch yet. Its records wait in a
/// bounded queue, and a free worker takes a batch of them, possibly from several requests. When
/// [#predictFn] throws for several records, each is tried again by itself, so that only the culprit
/// fails.
///
/// The smallest whole program:
///
/// ```java
/// public final class Upper implements InferenceHandler<Void, String, String> {
///   public Void modelFn(ModelContext context) { return null; }
///   public List<String> inputFn(InvocationRequest request) throws IOException {
///     return request.text().lines().toList();
///   }
///   public List<String> predictFn(List<String> records, Void model) {
///     return records.stream().map(String::toUpperCase).toList();
///   }
///   public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
///     return InvocationResponse.of(String.join("\n", predictions), MediaType.TEXT);
///   }
/// }
/// ```
///
/// The four hooks are required; the rest is optional. To change one hook of a built-in handler,
/// extend that handler. [TransformHandler] has one hook, from request to response, in place of the
/// last three.
///
/// A handler is made once per served model, through a public constructor that takes the model
/// directory as a [java.nio.file.Path] or takes nothing. `inputFn`, `outputFn`, `split`, `join` and
/// `length` run on many threads at the same time, so the handler's own fields must be immutable or
/// thread-safe. What `inputFn` and `outputFn` need, such as a tokenizer or a list of labels, is
/// loaded by that constructor into a `final` field. A model `M` belongs to one worker and is never
/// used by two threads at the same time. All models share the threads of workers, so it may be loaded,
/// used for each batch and closed on different ones. If `M` is [AutoCloseable], it is closed when the model is
/// unloaded; if the handler is, it is closed last.
///
/// @param <M> the loaded model, one per worker
/// @param <I> a record: the unit that inference is made on
/// @param <O> the prediction for one record
public interface InferenceHandler<M, I, O> {

    /// Loads the model from `context.modelDirectory()` onto `context.accelerator()`.
    ///
    /// Called once per worker, for one after another. Whatever it throws stops the start: `/ping`
    /// never turns 200.
    M modelFn(ModelContext context) throws Exception;

    /// Decodes a request into records; an empty list is a request for nothing, and `predictFn` is not
    /// called for it.
    ///
    /// Does the work that needs no model, such as tokenising. Must be thread-safe.
    ///
    /// @throws BadInputException when the payload is wrong: the caller gets 400 with its message
    /// @throws UnsupportedMediaTypeException when the content type is not one it reads: 415
    List<I> inputFn(InvocationRequest request) throws Exception;

    /// Predicts one batch: as many predictions as there are records, in the same order. A null
    /// prediction counts as missing.
    ///
    /// `records` can't be changed. The records may come from several requests. Runs for one batch of
    /// `model` at a time, on a thread that other models use too. The thread is interrupted when nobody
    /// waits for the batch any more, so a long computation may look at [Thread#isInterrupted()] between
    /// steps and give up.
    ///
    /// @throws InsufficientMemoryException when the accelerator has no room for the batch: 507 for
    ///   its callers
    /// @throws ModelUnusableException when no later call can succeed: the worker stops
    List<O> predictFn(List<I> records, M model) throws Exception;

    /// Encodes the predictions of one request, in the order of its records, as `request.accept()`
    /// asks. The list can't be changed.
    ///
    /// Must be thread-safe. The request's body has been read by then; its headers are still there.
    ///
    /// @throws NotAcceptableException when it can't write `request.accept()`: the caller gets 406
    InvocationResponse outputFn(List<O> predictions, InvocationRequest request) throws Exception;

    /// The pieces of a record that would take long, such as the windows of a long text; the record
    /// itself by default. Each is queued and predicted by itself, as a record is, and other requests
    /// go in between. At least one.
    ///
    /// Called after `inputFn`, on the same thread. `predictFn` should take whole records too: `serve
    /// check` splits no others than blocks of rows.
    default List<I> split(I record) {
        return List.of(record);
    }

    /// The prediction of a record that [#split] has taken into several pieces. Called before
    /// `outputFn`, on the same thread.
    ///
    /// @param parts the predictions of the pieces, in their order
    default O join(I record, List<O> parts) {
        return parts.getFirst();
    }

    /// What a record costs next to others, for instance its tokens: records of like length share a
    /// batch. At least 1.
    default int length(I record) {
        return 1;
    }

    /// How many records this one is, or a piece of one, in a batch and in metrics: a block of rows is as
    /// many. At least 1.
    default int count(I record) {
        return 1;
    }

    /// The most records that are worth predicting together on an accelerator; [Integer#MAX_VALUE]:
    /// any number. One on a CPU, where several workers do as well, and 32 elsewhere, unless a handler
    /// knows better. The operator may have the last word with `--max-batch-size`.
    default int maxBatchSize(Accelerator accelerator) {
        return accelerator instanceof Accelerator.Cpu ? 1 : 32;
    }

    /// Makes predictions of every shape that requests will have, so that the first of them is as
    /// quick as the rest.
    default void warmUpFn(M model) throws Exception {}

    /// The content types that [#inputFn] reads. Any other is refused with 415 before the body is
    /// read. Empty, the default: `inputFn` decides. Asked once, when the model is loaded.
    default List<MediaType> requestTypes() {
        return List.of();
    }

    /// The content types that [#outputFn] writes, the preferred one first. A request that accepts
    /// none of them is refused with 406 before the model is asked. Empty, the default: `outputFn`
    /// decides, and gets the type that the caller likes best. Asked once, when the model is loaded.
    default List<MediaType> responseTypes() {
        return List.of();
    }

    /// The paths of OpenAI's API that the hooks answer: `/v1/chat/completions`, `/v1/completions`,
    /// `/v1/embeddings`. A request to any other gets 404. None by default. Asked once, when the model
    /// is loaded. Hooks of an artifact that override [#inputFn] or [#outputFn] of a built-in handler
    /// must override this too, or answer none.
    default List<String> openAiPaths() {
        return List.of();
    }

    /// The task that the hooks do, by the name that `model.json` gives it, such as
    /// `sentence-embeddings`: they take and answer JSON as the built-in handler of the task does.
    /// Then clients of Text Embeddings Inference, Hugging Face, Cohere and Jina can ask the model.
    /// Nothing by default. Asked once, when the model is loaded. Hooks of an artifact that override
    /// [#inputFn] or [#outputFn] of a built-in handler must override this too, or name none.
    default Optional<String> task() {
        return Optional.empty();
    }

    /// What clients of the Open Inference Protocol are told about the model. Asked whenever one asks
    /// for it, by the threads of `inputFn`.
    default Signature signature() {
        return Signature.UNKNOWN;
    }
}
