package dev.berth.handler.qa;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.ModelArtifact;
import dev.berth.handler.task.InputReader;
import dev.berth.handler.task.RowModel;
import dev.berth.handler.task.TaskHandler;
import dev.berth.handler.task.TaskInput;
import dev.berth.handler.task.TaskRecord;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.Signature.Column;
import dev.berth.memory.RequestMemory;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Tokens;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

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
/// another runtime. The document of an answer is an [Answer], or a list of them where `top_k` is
/// more than 1. A `predictFn` that looks at answers or changes them needs whole records: override
/// `split` too, with `List.of(record)`.
public class QuestionAnsweringHandler extends TaskHandler<SpanModel, EncodedQuestion, Parameters> {

    /// About what one piece of a record costs, in tokens: the longest row of most models, which can't
    /// be taken apart. It takes 0.1 s on one core.
    private static final int TOKENS_OF_A_PIECE = 512;

    /// What a piece costs in memory, and each of the spans that it keeps until they are compared, in
    /// bytes.
    private static final long PIECE = 250;

    private static final long SPAN = 160;

    /// Among so many answers to the sample that of the trace must be.
    private static final int BEST = 5;

    private final Tokenizer tokenizer;
    private final QuestionEncoder encoder;

    public QuestionAnsweringHandler(Path modelDirectory) {
        var artifact = ModelArtifact.open(modelDirectory);
        RowModel.check(artifact, TracedSpanModel.OUTPUTS);
        super(
                artifact,
                new InputReader<>(
                        artifact,
                        Parameters.NAMES,
                        (parameters, fields) -> parameters.with(fields, artifact.longestRow()),
                        Parameters.defaults(artifact.longestRow())),
                List.of("question", "context"),
                List.of(
                        Column.ofTexts("answer"),
                        Column.of("score", ElementType.FLOAT64),
                        Column.of("start", ElementType.INT64),
                        Column.of("end", ElementType.INT64)),
                (accelerator, graphs) -> new TracedSpanModel(new RowModel(artifact, accelerator, graphs)));
        this.tokenizer = tokenizer(artifact);
        this.encoder = new QuestionEncoder(tokenizer, artifact.longestRow());
    }

    @Override
    protected void warmUp(SpanModel model) {
        model.warmUp();
    }

    /// Rounding differs from one processor to another, and int8 amplifies that: it may reorder the best
    /// answers, but not bring a bad one to the front. A `predictFn` that answers with something else has
    /// its own idea of what is right.
    @Override
    public boolean acceptsSample(
            JsonNode expected, List<TaskRecord<EncodedQuestion, Parameters>> sample, SpanModel model) {
        var record = sample.getFirst();
        var traced = expected.isArray() ? expected.path(0) : expected;
        var best = predictFn(
                        List.of(new TaskRecord<>(
                                record.input(), record.parameters().withTopK(BEST))),
                        model)
                .getFirst();
        var answers = (best instanceof List<?> several ? several.stream() : Stream.of(best))
                .filter(Answer.class::isInstance)
                .map(Answer.class::cast)
                .toList();
        return answers.isEmpty() || answers.stream().anyMatch(answer -> isSpan(answer, traced));
    }

    private static boolean isSpan(Answer answer, JsonNode traced) {
        return traced.path("start").asInt(-1) == answer.start()
                && traced.path("end").asInt(-1) == answer.end();
    }

    /// Several questions about one context, too.
    @Override
    protected JsonNode listed(JsonNode inputs, String name) {
        return Question.listed(inputs, name);
    }

    @Override
    protected Function<TaskInput<Parameters>, EncodedQuestion> reading() {
        var contexts = new HashMap<String, Tokens>();
        return input -> encoder.encode(input, contexts);
    }

    /// Pieces of consecutive windows that have about 512 tokens together.
    @Override
    public List<TaskRecord<EncodedQuestion, Parameters>> split(TaskRecord<EncodedQuestion, Parameters> record) {
        var whole = record.input();
        var windows = whole.windows();
        int windowsOfAPiece = Math.max(1, TOKENS_OF_A_PIECE / (whole.tokensBeside() + windows.room()));
        if (windows.count() <= windowsOfAPiece) {
            return List.of(record);
        }
        long pieces = Math.ceilDiv(windows.count(), windowsOfAPiece);
        RequestMemory.charge(
                pieces * PIECE + windows.count() * record.parameters().spansOf(windows.room()) * SPAN);
        return whole.pieces(windowsOfAPiece).stream()
                .map(piece -> new TaskRecord<>(piece, record.parameters()))
                .toList();
    }

    @Override
    public int length(TaskRecord<EncodedQuestion, Parameters> record) {
        return record.input().length();
    }

    /// Of a piece of a record the spans, of which [#join] makes answers.
    @Override
    public List<Object> predictFn(List<TaskRecord<EncodedQuestion, Parameters>> records, SpanModel model) {
        var found = AnswerFinder.find(records, model);
        return IntStream.range(0, records.size())
                .<Object>mapToObj(
                        i -> records.get(i).input().isWhole() ? answer(records.get(i), found.get(i)) : found.get(i))
                .toList();
    }

    /// A list where the caller asks for several.
    private static Object answer(TaskRecord<EncodedQuestion, Parameters> record, Spans spans) {
        var answers = spans.answers(record.input().question().context(), record.parameters());
        return record.parameters().topK() > 1 ? answers : answers.getFirst();
    }

    @Override
    public Object join(TaskRecord<EncodedQuestion, Parameters> record, List<Object> parts) {
        return answer(record, Spans.of(parts.stream().map(Spans.class::cast).toList()));
    }

    @Override
    public void close() {
        super.close();
        tokenizer.close();
    }
}
