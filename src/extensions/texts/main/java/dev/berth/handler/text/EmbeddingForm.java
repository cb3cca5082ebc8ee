package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.content.Documents;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import java.util.List;
import java.util.Optional;
import java.util.ServiceLoader;

/// A form in which clients of another API ask for embeddings, on any path. [EmbeddingHandler] asks
/// it on the request's thread for hooks. A new one has a line in
/// `META-INF/services/dev.berth.handler.text.EmbeddingForm`. Safe for use by many threads.
public interface EmbeddingForm {

    List<EmbeddingForm> ALL = ServiceLoader.load(EmbeddingForm.class, EmbeddingForm.class.getClassLoader()).stream()
            .map(ServiceLoader.Provider::get)
            .toList();

    /// What a body asks for; nothing where it has another form.
    ///
    /// @throws dev.berth.hooks.BadInputException when it has this form, and asks for what can't be done
    Optional<Asked> read(InvocationRequest request, JsonNode body);

    /// Scales a vector to length 1, in its place.
    static float[] normalised(float[] vector) {
        double squares = 0;
        for (float value : vector) {
            squares += (double) value * value;
        }
        double length = Math.max(Math.sqrt(squares), 1e-12);
        for (int i = 0; i < vector.length; i++) {
            vector[i] = (float) (vector[i] / length);
        }
        return vector;
    }

    /// What one request asks for.
    interface Asked {

        /// The texts, at least one.
        List<? extends Documents.Document> inputs();

        /// @param vectors one for each input
        /// @param tokens of all inputs
        InvocationResponse answer(List<float[]> vectors, int tokens);
    }
}
