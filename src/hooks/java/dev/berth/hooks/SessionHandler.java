package dev.berth.hooks;

import java.time.Duration;

/// What a handler implements besides [InferenceHandler] to remember something from one request to
/// the next, such as the key/value cache of a conversation.
///
/// A caller opens a session, and each of its requests names it. SageMaker routes them to this
/// server. The hooks find it with [InvocationRequest#session]:
///
/// ```java
/// public final class Counter implements InferenceHandler<Void, String, String>, SessionHandler<AtomicInteger> {
///   public AtomicInteger openSession(InvocationRequest request) { return new AtomicInteger(); }
///   public List<String> inputFn(InvocationRequest request) {
///     return List.of("request " + request.session(AtomicInteger.class).orElseThrow().incrementAndGet());
///   }
///   …
/// }
/// ```
///
/// Requests of one session take turns, so a session need not be thread-safe. A session lives in
/// this process only.
///
/// If `T` is [AutoCloseable], it is closed when the session ends: when its caller closes it, when
/// it expires, when its WebSocket closes, or when the model is unloaded. No request of it runs
/// then. It may be closed on any thread.
///
/// @param <T> what is remembered
public interface SessionHandler<T> {

    /// Makes the value of a new session. Runs on a thread for hooks, as [InferenceHandler#inputFn]
    /// does.
    ///
    /// @param request the request that opens it, without its body; for a WebSocket its handshake
    /// @throws BadInputException when the caller may not have one: the caller gets 400 with its
    ///   message
    T openSession(InvocationRequest request) throws Exception;

    /// How long a session may stay unused. Asked once, when the model is loaded.
    default Duration sessionTimeToLive() {
        return Duration.ofMinutes(20);
    }

    /// About how many bytes a session takes, those of native memory included. The operator bounds
    /// their sum with `--session-memory-mb`. Called when the session is opened and after each of its
    /// requests, and must be quick.
    default long sessionBytes(T session) {
        return 64 << 10;
    }
}
