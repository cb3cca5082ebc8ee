package dev.berth.handler.image;

import dev.berth.artifact.ImageArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.content.Base64Bytes;
import dev.berth.content.ContentType.OfDocuments;
import dev.berth.content.ContentTypes;
import dev.berth.content.Fields;
import dev.berth.handler.task.Copies;
import dev.berth.handler.task.Input;
import dev.berth.handler.task.InputReader;
import dev.berth.handler.task.Labels;
import dev.berth.handler.task.ScoreFunction;
import dev.berth.handler.task.TaskAnswer;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.Signature;
import dev.berth.hooks.Signature.Column;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// Image classification: labels for a picture.
///
/// Requests and answers are those of the image-classification pipeline of `transformers` 5.
public class ImageClassificationHandler
    implements InferenceHandler<ImageModel, ImageRecord, TaskAnswer>, AutoCloseable {

  private static final List<MediaType> PICTURES =
      Stream.concat(
              Stream.of(MediaType.IMAGE),
              Stream.of("jpeg", "png", "gif", "bmp", "webp")
                  .map(kind -> MediaType.of("image", kind)))
          .toList();
  private static final List<MediaType> REQUEST_TYPES =
      Stream.concat(Stream.of(MediaType.JSON, MediaType.JSON_LINES), PICTURES.stream()).toList();
  private static final List<MediaType> RESPONSE_TYPES = ContentTypes.mediaTypes(OfDocuments.class);

  /// How to classify, in the pipeline's words.
  ///
  /// @param topK the most labels of an answer, the best first
  /// @param function what makes scores of the model's output
  public record Parameters(int topK, ScoreFunction function) {

    private Parameters with(Fields fields) {
      return new Parameters(
          fields.integer("top_k", 1, Integer.MAX_VALUE, topK),
          fields.choice("function_to_apply", ScoreFunction.ALL, function));
    }
  }

  private final ImageArtifact artifact;
  private final List<String> labels;
  private final Preparation preparation;
  private final InputReader<Parameters> reader;
  private final Copies<ImageModel> models = new Copies<>();

  public ImageClassificationHandler(Path modelDirectory) {
    this(ImageArtifact.open(modelDirectory));
  }

  public ImageClassificationHandler(ImageArtifact artifact) {
    check(artifact);
    this.artifact = artifact;
    this.labels = Labels.of(artifact);
    this.preparation = new Preparation(artifact.preparation());
    this.reader =
        new InputReader<>(
            artifact,
            List.of("top_k", "function_to_apply"),
            Parameters::with,
            new Parameters(5, ScoreFunction.usual(labels.size())));
  }

  @Override
  public ImageModel modelFn(ModelContext context) {
    return models.of(context, accelerators -> ImageModel.load(artifact, accelerators));
  }

  /// Runs each shape. Workers that share a model need it once.
  ///
  /// @throws ModelArtifactException when the model fails
  @Override
  public void warmUpFn(ImageModel model) {
    models.warmUp(model, artifact.directory(), "model.json says", model::warmUp);
  }

  @Override
  public List<MediaType> requestTypes() {
    return REQUEST_TYPES;
  }

  @Override
  public Signature signature() {
    return new Signature(
        List.of(Column.ofTexts("image")),
        List.of(Column.ofTexts("label", -1), Column.of("score", ElementType.FLOAT64, -1)));
  }

  @Override
  public List<MediaType> responseTypes() {
    return RESPONSE_TYPES;
  }

  /// A picture's bytes. Or JSON: a picture in base64, a list of those, or either as `{"inputs": …,
  /// "parameters": {…}}`. JSON Lines: one of them in each line.
  @Override
  public List<ImageRecord> inputFn(InvocationRequest request) throws IOException {
    var type = request.contentType();
    if (PICTURES.stream().anyMatch(picture -> picture.includes(type))) {
      return List.of(
          new ImageRecord.Prepared(preparation.pixels(request.bytes()), reader.defaults(), true));
    }
    var documents =
        ContentTypes.reading(request, OfDocuments.class).readDocuments(request, List.of("image"));
    return reader.read(request, documents, _ -> false, this::record, ImageRecord.Rejected::new);
  }

  private ImageRecord record(Input<Parameters> input) {
    var picture = Base64Bytes.readText(input.json(), input.name());
    try {
      return new ImageRecord.Prepared(
          preparation.pixels(picture), input.parameters(), input.alone());
    } catch (BadInputException e) {
      throw new BadInputException("%s: %s".formatted(input.name(), e.getMessage()), e);
    }
  }

  /// A compiled model takes a fixed number of pictures.
  @Override
  public int maxBatchSize(Accelerator accelerator) {
    return artifact.dynamic()
        ? InferenceHandler.super.maxBatchSize(accelerator)
        : artifact.files().getLast().batch();
  }

  @Override
  public List<TaskAnswer> predictFn(List<ImageRecord> records, ImageModel model) {
    var pictures = new ArrayList<Tensor>();
    for (var record : records) {
      if (record instanceof ImageRecord.Prepared prepared) {
        pictures.add(prepared.pixels());
      }
    }
    var outputs = model.forward(pictures).iterator();
    return records.stream()
        .<TaskAnswer>map(
            record ->
                switch (record) {
                  case ImageRecord.Prepared(_, var parameters, var alone) ->
                      new TaskAnswer.Answered(
                          Labels.best(
                              labels, parameters.function.of(outputs.next()), parameters.topK),
                          alone);
                  case ImageRecord.Rejected(var message) -> new TaskAnswer.Rejected(message);
                })
        .toList();
  }

  @Override
  public InvocationResponse outputFn(List<TaskAnswer> answers, InvocationRequest request)
      throws IOException {
    return TaskAnswer.write(answers, List.of("label", "score"), request);
  }

  @Override
  public void close() {
    models.close(ImageModel::close);
  }

  private static void check(ImageArtifact artifact) {
    var problems = new ArrayList<String>();
    if (artifact.inputs().size() != 1) {
      problems.add("model.json: inputs: found %s, expected one".formatted(artifact.inputs()));
    }
    if (!artifact.outputs().equals(List.of("logits"))) {
      problems.add(
          "model.json: outputs: found %s, expected [logits]".formatted(artifact.outputs()));
    }
    if (!problems.isEmpty()) {
      throw new ModelArtifactException(artifact.directory(), problems);
    }
  }
}
