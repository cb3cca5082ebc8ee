package dev.berth.handler.qa;

import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.content.ContentType.OfDocuments;
import dev.berth.content.ContentTypes;
import dev.berth.handler.task.Copies;
import dev.berth.handler.task.RowModel;
import dev.berth.handler.task.TaskAnswer;
import dev.berth.handler.task.TracedHandler;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.Signature;
import dev.berth.hooks.Signature.Column;
import dev.berth.memory.RequestMemory;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Tokens;
import java.io.IOException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;

/// Extractive question answering: finds the answer to a question in a context, and where it stands
/// there.
///
/// 1. `modelFn` loads the TorchScript of the model artifact, once for each accelerator.
/// 2. `inputFn` reads questions from JSON, JSON Lines or CSV, tokenises them and plans windows over
///    each context.
/// 3. `split` takes a record of many windows apart, so that other requests go in between.
/// 4. `predictFn` runs the model on the windows and finds the best spans.
/// 5. `join` makes the answers of the spans of all pieces.
/// 6. `outputFn` writes the answers as JSON, JSON Lines or CSV.
///
/// Answers and scores are those of the question-answering pipeline of `transformers` 4.53. Extend
/// this class to change one hook: a `modelFn` may return a [SpanModel] of its own, such as one of
/// another runtime. A `predictFn` that looks at answers or changes them needs whole records:
/// override `split` too, with `List.of(record)`.
public class QuestionAnsweringHandler
        implements TracedHandler<SpanModel, QuestionRecord, QuestionAnswer>, AutoCloseable {

    /// About what one piece of a record costs, in tokens: the longest row of most models, which can't
    /// be taken apart. It takes 0.1 s on one core.
    private static final int TOKENS_OF_A_PIECE = 512;

    /// What a piece costs in memory, and each of the spans that it keeps until they are compared, in
    /// bytes.
    private static final long PIECE = 250;

    private static final long SPAN = 160;

    private static final List<MediaType> REQUEST_TYPES = ContentTypes.mediaTypes(OfDocuments.class);
    private static final List<MediaType> RESPONSE_TYPES = ContentTypes.mediaTypes(OfDocuments.class);

    private static final List<String> COLUMNS = List.of("answer", "score", "start", "end");

    private final ModelArtifact artifact;
    private final Tokenizer tokenizer;
    private final QuestionReader reader;
    private final QuestionEncoder encoder;
    private final AnswerFinder finder;
    private final SampleQuestion sample;

    private final Copies<SpanModel> models;

    public QuestionAnsweringHandler(Path modelDirectory) {
        this.artifact = ModelArtifact.open(modelDirectory);
        RowModel.check(artifact, TracedSpanModel.OUTPUTS);
        this.sample = new SampleQuestion(artifact);
        this.reader = new QuestionReader(artifact);
        this.tokenizer = tokenizer(artifact);
        this.encoder = new QuestionEncoder(tokenizer, artifact.pair(), artifact.longestRow());
        this.finder = new AnswerFinder(encoder, artifact.pair().hasClassification());
        this.models = new Copies<>(
                artifact, (accelerator, graphs) -> new TracedSpanModel(new RowModel(artifact, accelerator, graphs)));
    }

    @Override
    public final ModelArtifact artifact() {
        return artifact;
    }

    @Override
    public SpanModel modelFn(ModelContext context) {
        return models.of(context);
    }

    /// Runs every shape, then the artifact's sample through all hooks. Workers that share a model
    /// need it once.
    ///
    /// @throws ModelArtifactException when the model fails, or when what it answered to the sample
    ///   when it was traced is no longer among its best answers
    @Override
    public void warmUpFn(SpanModel model) throws IOException {
        models.warmUp(model, () -> {
            model.warmUp();
            askSample(model);
        });
    }

    @Override
    public boolean checksSample() {
        return true;
    }

    private void askSample(SpanModel model) throws IOException {
        try {
            var records = inputFn(sample.request(MediaType.JSON));
            var answers = predictFn(records, model);
            for (var type : responseTypes()) {
                outputFn(answers, sample.request(type));
            }
            sample.check(answers, predictFn(sample.question(records), model));
        } catch (BadInputException e) {
            throw sample.problem(e.getMessage(), e);
        }
    }

    @Override
    public List<MediaType> requestTypes() {
        return REQUEST_TYPES;
    }

    @Override
    public Signature signature() {
        return new Signature(
                List.of(Column.ofTexts("question"), Column.ofTexts("context")),
                List.of(
                        Column.ofTexts("answer"),
                        Column.of("score", ElementType.FLOAT64),
                        Column.of("start", ElementType.INT64),
                        Column.of("end", ElementType.INT64)));
    }

    @Override
    public List<MediaType> responseTypes() {
        return RESPONSE_TYPES;
    }

    @Override
    public List<QuestionRecord> inputFn(InvocationRequest request) throws IOException {
        var contexts = new HashMap<String, Tokens>();
        return reader.read(request, question -> encoder.encode(question, contexts), QuestionRecord.Rejected::new);
    }

    /// Pieces of consecutive windows that have about 512 tokens together.
    @Override
    public List<QuestionRecord> split(QuestionRecord record) {
        if (!(record instanceof QuestionRecord.Encoded encoded)
                || encoded.windows().count() == 1) {
            return List.of(record);
        }
        var windows = encoded.windows();
        int windowsOfAPiece = Math.max(1, TOKENS_OF_A_PIECE / (tokensBeside(encoded) + windows.room()));
        if (windows.count() <= windowsOfAPiece) {
            return List.of(record);
        }
        long pieces = Math.ceilDiv(windows.count(), windowsOfAPiece);
        RequestMemory.charge(pieces * PIECE
                + windows.count() * encoded.question().parameters().spansOf(windows.room()) * SPAN);
        return encoded.pieces(windowsOfAPiece);
    }

    /// The tokens of a record's windows.
    @Override
    public int length(QuestionRecord record) {
        return switch (record) {
            case QuestionRecord.Encoded encoded -> {
                var windows = encoded.windows();
                long tokens = windows.totalTokens() + (long) windows.count() * tokensBeside(encoded);
                yield (int) Math.min(Integer.MAX_VALUE, tokens);
            }
            case QuestionRecord.Rejected _ -> 1;
        };
    }

    /// What stands in each window beside the context.
    private int tokensBeside(QuestionRecord.Encoded record) {
        return artifact.pair().size() + record.questionIds().length;
    }

    /// A compiled model takes a fixed number of records, and more would only wait while other workers
    /// are free.
    @Override
    public int maxBatchSize(Accelerator accelerator) {
        return artifact.largestBatch().orElse(TracedHandler.super.maxBatchSize(accelerator));
    }

    @Override
    public List<QuestionAnswer> predictFn(List<QuestionRecord> records, SpanModel model) {
        return finder.find(records, model);
    }

    @Override
    public QuestionAnswer join(QuestionRecord record, List<QuestionAnswer> parts) {
        return switch (record) {
            case QuestionRecord.Encoded encoded -> finder.join(encoded, parts);
            case QuestionRecord.Rejected _ -> parts.getFirst();
        };
    }

    @Override
    public InvocationResponse outputFn(List<QuestionAnswer> answers, InvocationRequest request) throws IOException {
        return TaskAnswer.write(answers.stream().map(QuestionAnswer::written).toList(), COLUMNS, request);
    }

    @Override
    public void close() {
        models.close();
        tokenizer.close();
    }

    private static Tokenizer tokenizer(ModelArtifact artifact) {
        try {
            return Tokenizer.load(artifact.tokenizer());
        } catch (IOException e) {
            throw new ModelArtifactException(artifact.directory(), List.of(e.getMessage()), e);
        }
    }
}
