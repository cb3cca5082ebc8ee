import dev.berth.content.AnswerFile;
import dev.berth.content.Json;
import dev.berth.engine.Graph;
import dev.berth.engine.SharedGraphs;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.image.Image;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Draws pictures of prompts, `{"prompt": "two red stars"}` in, `{"images": ["iVBORw0…"], "seeds":
/// [7]}` out, as Stable Diffusion answers on Bedrock. Or the picture itself, or several as a ZIP
/// archive or a multipart body.
///
/// A record is a prompt with the seed of each picture that is wanted. Its pieces are the pictures,
/// so that other requests go in between.
public final class Inference implements InferenceHandler<Graph, Prompt, List<Drawing>>, AutoCloseable {

    /// Where `inputFn` leaves for `outputFn` whether the body was one prompt.
    private static final String ALONE = "alone";

    private final Prompts prompts;
    private final SharedGraphs graphs;

    public Inference(Path modelDirectory) throws IOException {
        this.prompts = new Prompts(modelDirectory.resolve("words.txt"));
        this.graphs = new SharedGraphs(modelDirectory.resolve("model.pt"));
    }

    @Override
    public Graph modelFn(ModelContext context) {
        return graphs.on(context.accelerator());
    }

    @Override
    public void warmUpFn(Graph model) throws InterruptedException {
        Painter.paint(prompts.tokens("a red circle", "prompt"), 0, 4, model);
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON, MediaType.JSON_LINES, MediaType.TEXT);
    }

    @Override
    public List<MediaType> responseTypes() {
        return Stream.concat(
                        Stream.of(MediaType.JSON, MediaType.JSON_LINES, AnswerFile.ZIP, AnswerFile.MULTIPART),
                        Stream.of(Format.values()).map(Format::type))
                .toList();
    }

    @Override
    public List<Prompt> inputFn(InvocationRequest request) throws IOException {
        var read = prompts.read(request);
        request.attributes().put(ALONE, read.alone());
        return read.prompts();
    }

    @Override
    public List<Prompt> split(Prompt prompt) {
        return prompt.seeds().stream()
                .map(seed -> prompt.withSeeds(List.of(seed)))
                .toList();
    }

    @Override
    public List<Drawing> join(Prompt prompt, List<List<Drawing>> parts) {
        return parts.stream().flatMap(List::stream).toList();
    }

    /// What a picture costs grows with its steps.
    @Override
    public int length(Prompt prompt) {
        return prompt.steps();
    }

    /// A picture is drawn by itself, so that it is the same in any company.
    @Override
    public int maxBatchSize(Accelerator accelerator) {
        return 1;
    }

    @Override
    public List<List<Drawing>> predictFn(List<Prompt> records, Graph model) throws InterruptedException {
        var predictions = new ArrayList<List<Drawing>>();
        for (var prompt : records) {
            var drawings = new ArrayList<Drawing>();
            for (long seed : prompt.seeds()) {
                var pixels = Painter.paint(prompt.tokens(), seed, prompt.steps(), model);
                drawings.add(new Drawing(prompt.format().encode(Image.of(pixels)), seed, prompt.format()));
            }
            predictions.add(drawings);
        }
        return predictions;
    }

    @Override
    public InvocationResponse outputFn(List<List<Drawing>> predictions, InvocationRequest request) {
        var accept = request.accept();
        if (accept.equals(MediaType.JSON) || accept.equals(MediaType.JSON_LINES)) {
            var answers = predictions.stream().map(Inference::answer).toList();
            boolean lines = accept.equals(MediaType.JSON_LINES);
            boolean alone = (boolean) request.attributes().get(ALONE);
            return InvocationResponse.of(
                    lines
                            ? answers.stream().map(Json::write).collect(Collectors.joining("\n"))
                            : Json.write(alone ? answers.getFirst() : answers),
                    accept);
        }
        var files = new ArrayList<AnswerFile>();
        for (int i = 0; i < predictions.size(); i++) {
            for (var drawing : predictions.get(i)) {
                var format = drawing.format();
                files.add(new AnswerFile(
                        "%d-seed-%d.%s".formatted(i + 1, drawing.seed(), format.ending()),
                        format.type(),
                        drawing.image()));
            }
        }
        var response = AnswerFile.write(files, accept);
        return files.size() == 1
                ? response.withCustomAttributes(
                        "seed=" + predictions.getFirst().getFirst().seed())
                : response;
    }

    private static Map<String, Object> answer(List<Drawing> drawings) {
        return Map.of(
                "images",
                        drawings.stream()
                                .map(drawing -> Base64.getEncoder().encodeToString(drawing.image()))
                                .toList(),
                "seeds", drawings.stream().map(Drawing::seed).toList());
    }

    @Override
    public void close() {
        graphs.close();
    }
}
