package dev.berth.serving;

import dev.berth.hooks.Accelerator;
import dev.berth.hooks.MediaType;
import java.util.List;
import java.util.Optional;

/// What there is to say of a model that serves.
///
/// @param requestTypes the content types that the hooks read; empty: any
/// @param responseTypes the content types that the hooks write; empty: any
/// @param openAiPaths the paths of OpenAI's API that the hooks answer
/// @param task the task that the hooks do, in the words of `model.json`
/// @param streams whether the hooks answer part by part
/// @param sessions whether the hooks have sessions
/// @param accelerators one for each worker
public record ModelFacts(
        List<MediaType> requestTypes,
        List<MediaType> responseTypes,
        List<String> openAiPaths,
        Optional<String> task,
        boolean streams,
        boolean sessions,
        List<Accelerator> accelerators) {

    /// Whether the hooks may have something to say to a caller who talks on a path of its own choice.
    public boolean areConversational() {
        return streams || sessions;
    }
}
