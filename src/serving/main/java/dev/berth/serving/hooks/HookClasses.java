package dev.berth.serving.hooks;

import dev.berth.artifact.code.ThrownByHook;
import dev.berth.hooks.InferenceHandler;

/// Calls hooks with the classes that they bring along, on the calling thread.
final class HookClasses {

    private HookClasses() {}

    /// Closes what hooks have made, if it wants to be.
    static void close(InferenceHandler<?, ?, ?> handler, Object made) throws Exception {
        if (made instanceof AutoCloseable closeable) {
            call(handler, () -> {
                closeable.close();
                return made;
            });
        }
    }

    /// Libraries that look for services find those of the hooks. A thread keeps nothing of a model
    /// that is unloaded. What the hooks throw is harmless, as [ThrownByHook] says.
    static <T, E extends Exception> T call(InferenceHandler<?, ?, ?> handler, Call<T, E> hook) throws E {
        var thread = Thread.currentThread();
        var outer = thread.getContextClassLoader();
        thread.setContextClassLoader(handler.getClass().getClassLoader());
        try {
            return hook.call();
        } catch (Throwable e) {
            if (ThrownByHook.ask(e) instanceof RuntimeException told) {
                throw told;
            }
            throw e;
        } finally {
            thread.setContextClassLoader(outer);
        }
    }

    interface Call<T, E extends Exception> {
        T call() throws E;
    }
}
