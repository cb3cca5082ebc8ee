package dev.berth.serving;

import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.SessionHandler;
import dev.berth.hooks.StreamingHandler;
import java.util.List;
import java.util.Optional;

/// What there is to say of a model that serves. It is asked once and not for each request, none of
/// which it can hold up then.
///
/// @param requestTypes the content types that the hooks read; empty: any
/// @param responseTypes the content types that the hooks write; empty: any
/// @param openAiPaths the paths of OpenAI's API that the hooks answer
/// @param task the task that the hooks do, in the words of `model.json`
/// @param accelerators one for each worker
public record ModelFacts(
        InferenceHandler<?, ?, ?> handler,
        List<MediaType> requestTypes,
        List<MediaType> responseTypes,
        List<String> openAiPaths,
        Optional<String> task,
        List<Accelerator> accelerators) {

    /// Whether the hooks answer part by part.
    public boolean streams() {
        return handler instanceof StreamingHandler<?, ?, ?, ?>;
    }

    /// Whether the hooks have sessions.
    public boolean sessions() {
        return handler instanceof SessionHandler<?>;
    }

    /// Whether the hooks may have something to say to a caller who talks on a path of its own choice.
    public boolean areConversational() {
        return streams() || sessions();
    }
}
