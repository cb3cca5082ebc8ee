package dev.berth.serving.hooks;

/// What a model is asked after its warm-up and before it serves, on the thread that loads it.
public interface FirstRequest {

    FirstRequest NONE = _ -> {};

    /// @throws Exception when the model must not serve
    void ask(HookPredictor<?, ?, ?> model) throws Exception;
}
