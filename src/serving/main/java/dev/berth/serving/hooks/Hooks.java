package dev.berth.serving.hooks;

import dev.berth.artifact.code.HookCode;
import dev.berth.artifact.code.ThrownByHook;
import dev.berth.batching.Pieces;
import dev.berth.content.BadRecords;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Metrics;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.StreamingHandler;
import dev.berth.hooks.TransformHandler;
import java.lang.ScopedValue.CallableOp;
import java.lang.reflect.Method;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Consumer;

/// The hooks of a handler: what messages call them, and the order in which a request goes through
/// those before its prediction and those after it.
///
/// Hooks run on the calling thread. Whoever calls is told which of them runs.
public final class Hooks<M, I, O> {

    public enum Hook {
        MODEL_FN("modelFn", 1),
        WARM_UP_FN("warmUpFn", 1),
        INPUT_FN("inputFn", 1),
        SPLIT("split", 1),
        LENGTH("length", 1),
        PREDICT_FN("predictFn", 2),
        TRANSFORM_FN("transformFn", 2),
        STEP_FN("stepFn", 2),
        JOIN("join", 2),
        OUTPUT_FN("outputFn", 2),
        PART_FN("partFn", 3),
        REQUEST_TYPES("requestTypes", 0),
        RESPONSE_TYPES("responseTypes", 0),
        OPEN_AI_PATHS("openAiPaths", 0),
        TASK("task", 0),
        OPEN_SESSION("openSession", 1),
        SESSION_TIME_TO_LIVE("sessionTimeToLive", 0),
        SESSION_BYTES("sessionBytes", 1);

        public final String method;
        private final int parameters;

        Hook(String method, int parameters) {
            this.method = method;
            this.parameters = parameters;
        }

        /// `predictFn`, or `predictFn (code/Inference.java)` where the artifact has its own.
        private String name(Class<?> type) {
            return Arrays.stream(type.getMethods())
                    .filter(found -> found.getName().equals(method) && !found.isBridge())
                    .filter(found -> found.getParameterCount() == parameters)
                    .findFirst()
                    .map(Method::getDeclaringClass)
                    .flatMap(HookCode::file)
                    .map(file -> "%s (%s)".formatted(method, file))
                    .orElse(method);
        }
    }

    public final InferenceHandler<M, I, O> handler;
    private final Metrics metrics;
    private final Map<Hook, String> names = new EnumMap<>(Hook.class);

    /// @param metrics what hooks find as [Metrics#current]
    public Hooks(InferenceHandler<M, I, O> handler, Metrics metrics) {
        this.handler = handler;
        this.metrics = metrics;
        for (var hook : Hook.values()) {
            names.put(hook, hook.name(handler.getClass()));
        }
    }

    public String name(Hook hook) {
        return names.get(hook);
    }

    /// What messages call that which predicts.
    public String predicting() {
        return name(
                switch (handler) {
                    case TransformHandler<?> _ -> Hook.TRANSFORM_FN;
                    case StreamingHandler<?, ?, ?, ?> _ -> Hook.STEP_FN;
                    default -> Hook.PREDICT_FN;
                });
    }

    /// Runs what calls hooks. Libraries that look for services find those of the hooks, and a thread
    /// keeps nothing of a model that is unloaded.
    <T, E extends Exception> T within(CallableOp<T, E> calls) throws E {
        var thread = Thread.currentThread();
        var outer = thread.getContextClassLoader();
        thread.setContextClassLoader(handler.getClass().getClassLoader());
        try {
            return ScopedValue.where(Metrics.CURRENT, metrics).call(calls);
        } finally {
            thread.setContextClassLoader(outer);
        }
    }

    /// The same. What the hooks throw is harmless, as [ThrownByHook] says.
    public <T, E extends Exception> T call(CallableOp<T, E> calls) throws E {
        try {
            return within(calls);
        } catch (Throwable e) {
            if (ThrownByHook.ask(e) instanceof RuntimeException told) {
                throw told;
            }
            throw e;
        }
    }

    /// Closes what hooks have made, if it wants to be.
    public void close(Object made) throws Exception {
        if (made instanceof AutoCloseable closeable) {
            call(() -> {
                closeable.close();
                return made;
            });
        }
    }

    public M load(ModelContext context) throws LoadException {
        return call(() -> {
            var model = LoadException.during(name(Hook.MODEL_FN), () -> handler.modelFn(context));
            tryOut(name(Hook.WARM_UP_FN), model, () -> {
                handler.warmUpFn(model);
                return model;
            });
            return model;
        });
    }

    /// Runs what a model must stand before it serves. One that fails is closed, and what fails then is
    /// suppressed.
    ///
    /// @throws LoadException when it fails
    public void tryOut(String what, Object model, Callable<?> call) throws LoadException {
        try {
            LoadException.during(what, call);
        } catch (Throwable e) {
            try {
                close(model);
            } catch (Throwable closing) {
                e.addSuppressed(closing);
            }
            throw e;
        }
    }

    /// The content types that the hooks read; empty: any.
    public List<MediaType> requestTypes() throws LoadException {
        return listed(Hook.REQUEST_TYPES, handler::requestTypes, "media types");
    }

    /// The content types that the hooks write; empty: any.
    public List<MediaType> responseTypes() throws LoadException {
        return listed(Hook.RESPONSE_TYPES, handler::responseTypes, "media types");
    }

    /// The paths of OpenAI's API that the hooks answer. Those that an artifact's hooks inherit are of
    /// the requests and answers that they inherit too.
    public List<String> openAiPaths() throws LoadException {
        return isOfOtherBodies(Hook.OPEN_AI_PATHS)
                ? List.of()
                : listed(Hook.OPEN_AI_PATHS, handler::openAiPaths, "paths");
    }

    /// The task whose JSON the hooks take and answer, by the same rule.
    public Optional<String> task() throws LoadException {
        if (isOfOtherBodies(Hook.TASK)) {
            return Optional.empty();
        }
        var task = LoadException.during(name(Hook.TASK), handler::task);
        if (task == null) {
            throw new LoadException(
                    "%s returned null, expected the name of a task or nothing".formatted(name(Hook.TASK)));
        }
        return task;
    }

    /// Whether a hook is of the server's own class, while the artifact's reads or writes bodies.
    private boolean isOfOtherBodies(Hook inherited) {
        return !isOwn(inherited) && (isOwn(Hook.INPUT_FN) || isOwn(Hook.OUTPUT_FN));
    }

    private boolean isOwn(Hook hook) {
        return !name(hook).equals(hook.method);
    }

    private <T> List<T> listed(Hook hook, Callable<List<T>> call, String expected) throws LoadException {
        var list = LoadException.during(name(hook), () -> {
            var said = call.call();
            return said == null ? null : new ArrayList<>(said);
        });
        if (list == null || list.stream().anyMatch(Objects::isNull)) {
            throw new LoadException("%s returned %s, expected a list of %s".formatted(name(hook), list, expected));
        }
        return List.copyOf(list);
    }

    /// Makes records of a request, and pieces of those.
    public Pieces<I> decode(InvocationRequest request, Consumer<String> entered) throws Exception {
        entered.accept(name(Hook.INPUT_FN));
        // The hook's own list is read here and never again, when others wait for the thread.
        var records = new ArrayList<>(require(handler.inputFn(request), Hook.INPUT_FN, "a list of records"));
        entered.accept(name(Hook.SPLIT));
        var pieces = new ArrayList<I>(records.size());
        var counts = new int[records.size()];
        int number = 0;
        for (var record : records) {
            if (record == null) {
                throw internal("%s returned null as record %d of %d, expected a record"
                        .formatted(name(Hook.INPUT_FN), number + 1, records.size()));
            }
            var parts = handler.split(record);
            if (parts == null || parts.isEmpty() || parts.stream().anyMatch(Objects::isNull)) {
                throw internal("%s returned %s, expected one record or several"
                        .formatted(
                                name(Hook.SPLIT),
                                parts == null ? "null" : parts.isEmpty() ? "[]" : "a list with null"));
            }
            pieces.addAll(parts);
            counts[number++] = parts.size();
        }
        entered.accept(name(Hook.LENGTH));
        var sizes = new Pieces.Sizes(sizes(records), sizes(pieces));
        return new Pieces<>(records, pieces, lengths(pieces), counts, sizes);
    }

    private int[] sizes(List<I> records) {
        return records.stream().mapToInt(handler::count).toArray();
    }

    private int[] lengths(List<I> pieces) {
        var lengths = new int[pieces.size()];
        int next = 0;
        for (var piece : pieces) {
            int length = handler.length(piece);
            if (length < 0) {
                throw internal("%s returned %d, expected a positive number".formatted(name(Hook.LENGTH), length));
            }
            lengths[next++] = length;
        }
        return lengths;
    }

    /// Makes the response of what was predicted for each piece.
    ///
    /// @param inParts whether that is parts, which `join` puts together however few there are
    public InvocationResponse encode(
            Pieces<I> pieces,
            List<List<O>> ofPieces,
            boolean inParts,
            InvocationRequest request,
            Consumer<String> entered)
            throws Exception {
        entered.accept(name(Hook.JOIN));
        var joined = new ArrayList<O>(pieces.records().size());
        int from = 0;
        for (var record : pieces.records()) {
            int to = from + pieces.counts()[joined.size()];
            boolean isWhole = to == from + 1;
            var its = isWhole
                    ? ofPieces.get(from)
                    : ofPieces.subList(from, to).stream().flatMap(List::stream).toList();
            joined.add(
                    isWhole && !inParts
                            ? its.getFirst()
                            : require(handler.join(record, its), Hook.JOIN, "a prediction"));
            from = to;
        }
        entered.accept(name(Hook.OUTPUT_FN));
        var response =
                require(handler.outputFn(Collections.unmodifiableList(joined), request), Hook.OUTPUT_FN, "a response");
        BadRecords.requireSeen(request);
        return response;
    }

    public <T> T require(T result, Hook hook, String expected) {
        if (result == null) {
            throw internal("%s returned null, expected %s".formatted(name(hook), expected));
        }
        return result;
    }

    private static ServingException internal(String message) {
        return ErrorType.INTERNAL.because(message);
    }
}
