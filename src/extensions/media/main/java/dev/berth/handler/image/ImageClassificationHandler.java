package dev.berth.handler.image;

import com.fasterxml.jackson.databind.node.BinaryNode;
import dev.berth.content.Base64Bytes;
import dev.berth.content.Documents;
import dev.berth.content.Fields;
import dev.berth.handler.task.InputReader;
import dev.berth.handler.task.Labels;
import dev.berth.handler.task.ScoreFunction;
import dev.berth.handler.task.TaskHandler;
import dev.berth.handler.task.TaskInput;
import dev.berth.handler.task.TaskRecord;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Signature.Column;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// Image classification: labels for a picture.
///
/// Requests and answers are those of the image-classification pipeline of `transformers` 5.
public class ImageClassificationHandler extends TaskHandler<ImageModel, Tensor, ImageClassificationHandler.Parameters> {

    private static final List<MediaType> PICTURES = Stream.concat(
                    Stream.of(MediaType.IMAGE),
                    Stream.of("jpeg", "png", "gif", "bmp", "webp").map(kind -> MediaType.of("image", kind)))
            .toList();
    private static final List<MediaType> REQUEST_TYPES = Stream.concat(
                    Stream.of(MediaType.JSON, MediaType.JSON_LINES), PICTURES.stream())
            .toList();

    /// How to classify, in the pipeline's words.
    ///
    /// @param topK the most labels of an answer, the best first
    /// @param function what makes scores of the model's output
    public record Parameters(int topK, ScoreFunction function) {

        private Parameters with(Fields fields) {
            return new Parameters(
                    fields.integer("top_k", 1, Integer.MAX_VALUE, topK), fields.choice("function_to_apply", function));
        }
    }

    private final List<String> labels;
    private final Preparation preparation;

    public ImageClassificationHandler(Path modelDirectory) {
        var artifact = ImageArtifact.open(modelDirectory);
        var inputs = artifact.inputs();
        var problem = "model.json: inputs: found %s, expected one".formatted(inputs);
        check(artifact, inputs.size() == 1 ? Optional.empty() : Optional.of(problem), List.of("logits"));
        var labels = Labels.of(artifact);
        super(
                artifact,
                new InputReader<>(
                        artifact,
                        List.of("top_k", "function_to_apply"),
                        Parameters::with,
                        new Parameters(5, ScoreFunction.usual(labels.size()))),
                List.of("image"),
                List.of(Column.ofTexts("label", -1), Column.of("score", ElementType.FLOAT64, -1)),
                (accelerator, graphs) -> new ImageModel(artifact, accelerator, graphs));
        this.labels = labels;
        this.preparation = artifact.preparation();
    }

    @Override
    protected void warmUp(ImageModel model) {
        model.warmUp();
    }

    @Override
    public List<MediaType> requestTypes() {
        return REQUEST_TYPES;
    }

    /// A picture's bytes. Or JSON: a picture in base64, a list of those, or either as `{"inputs": …,
    /// "parameters": {…}}`. JSON Lines: one of them in each line.
    @Override
    protected Documents documents(InvocationRequest request) throws IOException {
        var type = request.contentType();
        return PICTURES.stream().anyMatch(picture -> picture.includes(type))
                ? new Documents.Body(BinaryNode.valueOf(request.bytes()))
                : super.documents(request);
    }

    @Override
    protected Function<TaskInput<Parameters>, Tensor> reading() {
        return this::read;
    }

    private Tensor read(TaskInput<Parameters> input) {
        if (input.json() instanceof BinaryNode picture) {
            return preparation.pixels(picture.binaryValue());
        }
        var picture = Base64Bytes.readText(input.json(), input.name());
        try {
            return preparation.pixels(picture);
        } catch (BadInputException e) {
            throw new BadInputException("%s: %s".formatted(input.name(), e.getMessage()), e);
        }
    }

    @Override
    public List<Object> predictFn(List<TaskRecord<Tensor, Parameters>> records, ImageModel model) {
        var outputs = model.forward(records.stream().map(TaskRecord::input).toList());
        return IntStream.range(0, records.size())
                .<Object>mapToObj(i -> {
                    var parameters = records.get(i).parameters();
                    return Labels.best(labels, parameters.function.of(outputs.get(i)), parameters.topK);
                })
                .toList();
    }
}
