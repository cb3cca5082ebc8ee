import dev.berth.content.Json;
import dev.berth.engine.Graph;
import dev.berth.engine.KeptTensor;
import dev.berth.engine.SharedGraphs;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.SessionHandler;
import dev.berth.hooks.StreamingHandler;
import dev.berth.hooks.Tensor;
import dev.berth.openai.Chat;
import dev.berth.openai.Completion;
import dev.berth.openai.Reply;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.LongStream;

/// Writes text with a causal language model, token by token, many texts at the same time.
///
/// The model is a TorchScript, a record a text to write, its state the key/value cache, which stays
/// in the engine's memory. A step reads one token of each text, or a piece of its prompt, in one
/// forward without padding.
public final class Inference
        implements StreamingHandler<Graph, Task, Part, Writing>, SessionHandler<Talk>, AutoCloseable {

    /// How much of a prompt is read in a step. The other texts wait for it.
    private static final int PIECE = 64;

    /// How many tokens a core should have, or sharing the work takes longer than it saves.
    private static final int TOKENS_OF_A_CORE = 16;

    private static final String FORM = "form";

    private final Language language;
    private final Requests requests;
    private final SharedGraphs graphs;

    public Inference(Path modelDirectory) throws IOException {
        this.language = new Language(modelDirectory);
        this.requests = new Requests(language);
        this.graphs = new SharedGraphs(modelDirectory.resolve("model.pt"));
    }

    /// Workers of an accelerator share a copy, so a session's cache is of use to each of them.
    @Override
    public Graph modelFn(ModelContext context) {
        return graphs.on(context.accelerator());
    }

    /// The engine looks at the first forwards before it settles how to run the others.
    @Override
    public void warmUpFn(Graph model) {
        var one = model.keep(language.emptyCache());
        var other = model.keep(language.emptyCache());
        try (one;
                other) {
            forward(model, List.of(new long[PIECE], new long[1]), List.of(0, 0), List.of(one, other));
            for (int read = 1; read < 4; read++) {
                forward(model, List.of(new long[1]), List.of(read), List.of(other));
            }
        }
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON, MediaType.TEXT);
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(MediaType.JSON, MediaType.TEXT, MediaType.EVENT_STREAM, MediaType.JSON_LINES);
    }

    @Override
    public List<String> openAiPaths() {
        return List.of(Chat.PATH, Completion.PATH);
    }

    @Override
    public List<Task> inputFn(InvocationRequest request) throws IOException {
        var tasks = requests.read(request);
        request.attributes().put(FORM, tasks.getFirst().form());
        return tasks;
    }

    @Override
    public Talk openSession(InvocationRequest request) {
        return new Talk();
    }

    @Override
    public long sessionBytes(Talk talk) {
        return talk.bytes();
    }

    @Override
    public int length(Task task) {
        return task.prompt().length + task.maxTokens();
    }

    @Override
    public Writing beginFn(Task task, Graph model) {
        return new Writing(task, language, model);
    }

    @Override
    public void stepFn(List<PartStream<Writing, Part>> streams, Graph model) {
        var texts = streams.stream().map(PartStream::state).toList();
        var next = texts.stream().map(text -> text.next(PIECE)).toList();
        var logits = forward(
                model,
                next,
                texts.stream().map(Writing::read).toList(),
                texts.stream().map(Writing::cache).toList());
        for (int i = 0; i < texts.size(); i++) {
            texts.get(i).advance(next.get(i).length, logits.get(i).floats(), streams.get(i));
        }
    }

    /// @param read how many tokens of each text its cache has
    /// @return the logits of the token after each text's last one
    private static List<Tensor> forward(Graph model, List<long[]> next, List<Integer> read, List<KeptTensor> caches) {
        var ids = next.stream().flatMapToLong(LongStream::of).toArray();
        var counts = new ArrayList<Long>();
        for (int i = 0; i < next.size(); i++) {
            counts.add((long) next.get(i).length);
            counts.add((long) read.get(i));
        }
        var texts = Tensor.of(counts.stream().mapToLong(Long::longValue).toArray(), next.size(), 2);
        var inputs = List.of(Tensor.of(ids, ids.length), texts);
        return model.forward(inputs, caches, Math.max(1, ids.length / TOKENS_OF_A_CORE))
                .getFirst()
                .unstack();
    }

    /// OpenAI's bodies say it in the body, as SageMaker hands no `Accept` on for them. An event
    /// stream is the default there.
    @Override
    public Optional<MediaType> streamedAs(InvocationRequest request) {
        var form = form(request);
        var accepted = StreamingHandler.super.streamedAs(request);
        if (!form.stream().orElse(accepted.isPresent())) {
            return Optional.empty();
        }
        return Optional.of(
                form.plain()
                        ? MediaType.TEXT
                        : accepted.filter(_ -> form.hasTokens()).orElse(MediaType.EVENT_STREAM));
    }

    @Override
    public byte[] partFn(Part part, int record, InvocationRequest request) {
        var form = form(request);
        var text = switch (part) {
            case Part.Done _ -> Reply.DONE;
            case Part.Text(var _, var _, String shown) when form.plain() -> shown;
            default -> Json.write(Answers.event(part, record, form));
        };
        return text.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public Part join(Task task, List<Part> parts) {
        return parts.stream()
                .filter(Part.End.class::isInstance)
                .findFirst()
                .orElseGet(() -> new Part.Text(
                        0,
                        0,
                        parts.stream().map(part -> ((Part.Text) part).text()).collect(Collectors.joining())));
    }

    @Override
    public InvocationResponse outputFn(List<Part> predictions, InvocationRequest request) {
        if (predictions.getFirst() instanceof Part.Text(var _, var _, String text)) {
            return InvocationResponse.of(text, MediaType.TEXT);
        }
        var ends = predictions.stream().map(Part.End.class::cast).toList();
        return InvocationResponse.of(Json.write(Answers.whole(ends, form(request))), MediaType.JSON);
    }

    @Override
    public void close() {
        graphs.close();
        language.close();
    }

    private static Form form(InvocationRequest request) {
        return (Form) request.attributes().get(FORM);
    }
}
