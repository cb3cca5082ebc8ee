package dev.berth.hooks;

import java.io.ByteArrayInputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Optional;

/// A model that is loaded with a handler's hooks on the calling thread, without a server: for tests
/// of hooks.
///
/// ```java
/// try (var model = LocalModel.load(new Inference(directory), directory)) {
///   assertEquals("{\"answer\":\"Warsaw\"}", model.invoke(MediaType.JSON, "{\"question\": …}"));
/// }
/// ```
///
/// Use it on one thread only. The hooks are called as the server calls them, in the same order, one
/// request at a time and on a CPU; what they throw comes out as it is. As in the server:
///
/// - A type that is not among `requestTypes` is an [UnsupportedMediaTypeException]. One that is not
///   among `responseTypes` is a [NotAcceptableException].
/// - `predictFn` gets at most `maxBatchSize` records at once, in a list that can't be changed.
/// - A hook that returns null, a list with null in it, or the wrong number of predictions is an
///   [IllegalStateException] that names the hook.
public final class LocalModel implements AutoCloseable {

    /// What a server grants by default.
    private static final Duration TIMEOUT = Duration.ofSeconds(60);

    private final Hooks<?, ?, ?> hooks;

    private LocalModel(Hooks<?, ?, ?> hooks) {
        this.hooks = hooks;
    }

    /// Calls `modelFn` and `warmUpFn`.
    ///
    /// @param handler closed with this
    public static <M, I, O> LocalModel load(InferenceHandler<M, I, O> handler, Path modelDirectory) throws Exception {
        var cpu = new Accelerator.Cpu(Runtime.getRuntime().availableProcessors(), CpuProfile.ADAPTIVE);
        int maxBatchSize = Math.max(1, handler.maxBatchSize(cpu));
        var model = handler.modelFn(new ModelContext(modelDirectory, cpu, 0, List.of(cpu), maxBatchSize, Metrics.NONE));
        handler.warmUpFn(model);
        return new LocalModel(new Hooks<>(handler, model, maxBatchSize));
    }

    /// Answers a request.
    ///
    /// @param accept the type that the response should have
    public InvocationResponse invoke(MediaType contentType, byte[] body, MediaType accept) throws Exception {
        return invoke(request(contentType, body, accept, Optional.empty()));
    }

    /// The same with custom attributes, which a caller sends as `X-Amzn-SageMaker-Custom-Attributes`.
    public InvocationResponse invoke(MediaType contentType, byte[] body, MediaType accept, String customAttributes)
            throws Exception {
        return invoke(request(contentType, body, accept, Optional.of(customAttributes)));
    }

    /// Answers a request that the test has made, such as one with headers.
    public InvocationResponse invoke(InvocationRequest request) throws Exception {
        hooks.check(request);
        return hooks.invoke(request);
    }

    /// Answers a request of text whose `Accept` is its `Content-Type`. The answer is as `outputFn` made
    /// it: the server removes a line end at the end of CSV and JSON Lines.
    public String invoke(MediaType contentType, String body) throws Exception {
        var response = invoke(contentType, body.getBytes(StandardCharsets.UTF_8), contentType);
        return new String(response.body(), StandardCharsets.UTF_8);
    }

    /// Answers a request with the parts of a [StreamingHandler], those of the first record first.
    /// Each is as `partFn` has encoded it: the server puts the frame of an event or the end of a line
    /// around it.
    ///
    /// @throws IllegalStateException when the handler is not one, or answers this request as a whole
    public List<byte[]> stream(MediaType contentType, byte[] body, MediaType accept) throws Exception {
        var request = request(contentType, body, accept, Optional.empty());
        hooks.check(request);
        return hooks.stream(request);
    }

    private static InvocationRequest request(
            MediaType contentType, byte[] body, MediaType accept, Optional<String> customAttributes) {
        return new InvocationRequest(
                        new ByteArrayInputStream(body), contentType, accept, customAttributes, "local", false)
                .withDeadline(System.nanoTime() + TIMEOUT.toNanos());
    }

    @Override
    public void close() throws Exception {
        hooks.close();
    }

    /// A handler and what its `modelFn` gave.
    private record Hooks<M, I, O>(InferenceHandler<M, I, O> handler, M model, int maxBatchSize)
            implements AutoCloseable {

        /// Refuses what the server refuses before it calls a hook.
        void check(InvocationRequest request) {
            var readable = checked(handler.requestTypes(), "requestTypes", "a media type");
            if (!readable.isEmpty() && readable.stream().noneMatch(request.contentType()::sameTypeAs)) {
                throw new UnsupportedMediaTypeException(
                        "Content-Type: found \"%s\", expected one of %s".formatted(request.contentType(), readable));
            }
            var writable = checked(handler.responseTypes(), "responseTypes", "a media type");
            if (!writable.isEmpty() && writable.stream().noneMatch(request.accept()::includes)) {
                throw new NotAcceptableException(
                        "Accept: found \"%s\", expected one of %s".formatted(request.accept(), writable));
            }
        }

        InvocationResponse invoke(InvocationRequest request) throws Exception {
            var records = records(request);
            var split = new ArrayList<List<I>>();
            for (var record : records) {
                split.add(checked(handler.split(record), "split", "a piece"));
                if (split.getLast().isEmpty()) {
                    throw new IllegalStateException("split: found no pieces, expected the record itself or several");
                }
            }
            var predictions = new ArrayList<O>();
            for (var batch : batches(split.stream().flatMap(List::stream).toList())) {
                predictions.addAll(predict(batch));
            }
            var joined = new ArrayList<O>(records.size());
            int from = 0;
            for (var parts : split) {
                int to = from + parts.size();
                var own = Collections.unmodifiableList(predictions.subList(from, to));
                joined.add(
                        parts.size() == 1
                                ? own.getFirst()
                                : notNull(handler.join(records.get(joined.size()), own), "join", "a prediction"));
                from = to;
            }
            return notNull(handler.outputFn(Collections.unmodifiableList(joined), request), "outputFn", "a response");
        }

        List<byte[]> stream(InvocationRequest request) throws Exception {
            if (!(handler instanceof StreamingHandler<M, I, O, ?> streaming)) {
                throw new IllegalStateException("handler: found %s, expected a StreamingHandler"
                        .formatted(handler.getClass().getName()));
            }
            var records = records(request);
            if (streaming.streamedAs(request).isEmpty()) {
                throw new IllegalStateException(
                        "streamedAs: found nothing for the type %s, expected the type of the parts"
                                .formatted(request.accept()));
            }
            var encoded = new ArrayList<byte[]>();
            int record = 0;
            for (var batch : batches(records)) {
                for (var parts : WholeStreams.parts(streaming, batch, model)) {
                    for (var part : parts) {
                        encoded.add(notNull(streaming.partFn(part, record, request), "partFn", "the bytes of a part"));
                    }
                    record++;
                }
            }
            return encoded;
        }

        private List<I> records(InvocationRequest request) throws Exception {
            return checked(handler.inputFn(request), "inputFn", "a record");
        }

        private List<List<I>> batches(List<I> pieces) {
            var batches = new ArrayList<List<I>>();
            for (int from = 0, to = 0; from < pieces.size(); from = to) {
                long size = 0;
                do {
                    size += handler.count(pieces.get(to++));
                } while (to < pieces.size() && size + handler.count(pieces.get(to)) <= maxBatchSize);
                batches.add(pieces.subList(from, to));
            }
            return batches;
        }

        private List<O> predict(List<I> batch) throws Exception {
            var predictions = checked(handler.predictFn(batch, model), "predictFn", "a prediction");
            if (predictions.size() != batch.size()) {
                throw new IllegalStateException("predictFn: found %d predictions, expected %d, one for each record"
                        .formatted(predictions.size(), batch.size()));
            }
            return predictions;
        }

        @Override
        public void close() throws Exception {
            if (model instanceof AutoCloseable closeable) {
                closeable.close();
            }
            if (handler instanceof AutoCloseable closeable) {
                closeable.close();
            }
        }

        private static <T> List<T> checked(List<T> values, String hook, String each) {
            int place = 0;
            for (var value : notNull(values, hook, "a list")) {
                if (value == null) {
                    throw new IllegalStateException(
                            "%s: found null at %d of %d, expected %s".formatted(hook, place, values.size(), each));
                }
                place++;
            }
            return Collections.unmodifiableList(values);
        }

        private static <T> T notNull(T value, String hook, String expected) {
            if (value == null) {
                throw new IllegalStateException("%s: found null, expected %s".formatted(hook, expected));
            }
            return value;
        }
    }
}
