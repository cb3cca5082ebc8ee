package dev.berth.serving.hooks;

import dev.berth.artifact.code.ThrownByHook;
import dev.berth.batching.Sequence;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.PartStream;

/// A record's stream as `stepFn` sees it.
public final class HookSequence<S, O> extends Sequence<O> implements PartStream<S, O> {

    private final InferenceHandler<?, ?, ?> handler;
    private final S state;

    HookSequence(InferenceHandler<?, ?, ?> handler, S state) {
        this.handler = handler;
        this.state = state;
    }

    @Override
    public void fail(Exception cause) {
        super.fail((Exception) ThrownByHook.ask(cause));
    }

    @Override
    public S state() {
        return state;
    }

    @Override
    public void close() throws Exception {
        HookClasses.close(handler, state);
    }
}
