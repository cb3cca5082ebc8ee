package dev.berth.handler.task;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.engine.GraphNames;
import java.nio.file.Path;
import java.util.List;

/// A model as it lies on Hugging Face's hub, for the [HubTask] that describes it: its files, and
/// the steps that several tasks need. Used by one thread.
public interface HubFiles {

    Path directory();

    /// As `config.json` names it.
    String architecture();

    boolean has(String name);

    /// A file of JSON; a missing node where there is none.
    JsonNode json(String name);

    /// What the file of the model says of itself.
    GraphNames graph();

    /// Tells people what was chosen and why.
    void because(String reason);

    /// The exception of a model that can't be served.
    ModelArtifactException refused(String problem);

    /// Writes `outputs`: those whose names begin so, or all where the model has just as many.
    ///
    /// @param expected what a message calls them
    void outputs(ObjectNode json, String expected, String... beginnings);

    /// Writes `outputs` of vectors, what is made of those, and rows of tokens of whole sentences.
    void sentences(ObjectNode json);

    /// Writes how texts become rows of tokens, and in which shapes.
    void rows(ObjectNode json);

    /// Writes how a picture is prepared, and how many pictures the model takes at once.
    void pictures(ObjectNode json);

    /// Writes `labels`.
    ///
    /// @return them
    List<String> labels(ObjectNode json);

    /// Whether its tokenizer takes a sentence without spaces for one word.
    boolean isUnspaced();
}
