package dev.berth.handler.text;

import dev.berth.artifact.ModelArtifact;
import dev.berth.hooks.InvocationRequest;
import dev.berth.tokenizer.Tokenizer;
import java.io.IOException;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/// The questions of another API about a model of texts that need no forward. [TextHandler] asks it
/// on the request's thread for hooks. A new one has a line in
/// `META-INF/services/dev.berth.handler.text.TextQuestions`. Safe for use by many threads.
public interface TextQuestions {

    List<TextQuestions> ALL = ServiceLoader.load(TextQuestions.class, TextQuestions.class.getClassLoader()).stream()
            .map(ServiceLoader.Provider::get)
            .toList();

    /// The answer as plain Java, which is written as JSON; nothing where the path is another one.
    ///
    /// @throws dev.berth.hooks.BadInputException naming a field that is wrong
    Optional<Object> answer(InvocationRequest request, ModelArtifact model, Tokenizer tokenizer) throws IOException;
}
