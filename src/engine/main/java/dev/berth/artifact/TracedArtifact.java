package dev.berth.artifact;

import com.fasterxml.jackson.databind.JsonNode;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;

/// A model for a task, made by `trace.py` or `serve pack`, whose `model.json` and files have been
/// checked.
public interface TracedArtifact {

    /// What `model.json` says of every such model.
    ///
    /// @param directory the directory unpacked from `model.tar.gz`
    /// @param task what the model is for, such as `question-answering`; it chooses the built-in
    ///   handler
    /// @param target the device that the model was traced for
    /// @param parameters what a request's parameters are for this model where the request leaves them
    ///   out, by name
    record Header(
            Path directory,
            String task,
            Target target,
            Tensors tensors,
            Map<String, Object> parameters,
            Origin origin) {

        private static final List<String> PRECISIONS = List.of("fp32", "fp16", "bf16", "int8");

        public static Header read(ModelJson json) {
            var independentRows = json.flag("independentRows");
            if (independentRows.equals(Optional.of(false))) {
                json.part("independentRows").wrong("true or nothing: rows of a task go through its model together");
            }
            return new Header(
                    json.directory(),
                    json.value("task", JsonNode::isTextual, "a task such as question-answering")
                            .asText(),
                    json.target(),
                    new Tensors(json.texts("inputs"), json.texts("outputs"), independentRows, json.findTexts("labels")),
                    json.object("parameters"),
                    new Origin(
                            json.choice("precision", PRECISIONS),
                            json.find("torch"),
                            Agreement.find(json),
                            json.object("provenance")));
        }
    }

    /// What the model takes and returns.
    ///
    /// @param inputs by name, in the order of its `forward`
    /// @param outputs by name, in their order
    /// @param independentRows whether what the model says of a row is the same whatever rows go with
    ///   it; empty: the file does not say
    /// @param labels the names of a classifier's classes, in the order of its output; empty where it
    ///   is none
    record Tensors(List<String> inputs, List<String> outputs, Optional<Boolean> independentRows, List<String> labels) {}

    /// How the files were made.
    ///
    /// @param precision `fp32`, `fp16`, `bf16` or `int8`
    /// @param torch the version of PyTorch that wrote the files; empty: it is none of PyTorch's
    /// @param agreement how far its answers are those of the model in fp32, where they were compared
    /// @param provenance where the weights come from and under which licence, as free text by key;
    ///   null where that is not known
    record Origin(
            String precision, Optional<String> torch, Optional<Agreement> agreement, Map<String, Object> provenance) {}

    Header header();

    default Path directory() {
        return header().directory;
    }

    default String task() {
        return header().task;
    }

    default Target target() {
        return header().target;
    }

    default List<String> inputs() {
        return header().tensors.inputs;
    }

    default List<String> outputs() {
        return header().tensors.outputs;
    }

    Shapes shapes();

    /// The files of the model, in the order of their shapes.
    default List<Path> modelFiles() {
        return shapes().files().stream().map(Shapes.Shape::file).toList();
    }

    default List<Path> servedFiles() {
        return modelFiles();
    }

    /// The most records that a compiled model takes at once; empty: any number.
    default OptionalInt largestBatch() {
        return shapes().isDynamic()
                ? OptionalInt.empty()
                : shapes().files().stream().mapToInt(Shapes.Shape::batch).max();
    }

    /// The shapes that the model takes, for people.
    String shownShapes();
}
