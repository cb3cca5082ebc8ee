package dev.berth.handler.text;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.TextNode;
import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.content.ContentType.OfDocuments;
import dev.berth.content.ContentTypes;
import dev.berth.content.Csv;
import dev.berth.content.CsvType;
import dev.berth.content.Documents;
import dev.berth.content.Excerpt;
import dev.berth.content.Json;
import dev.berth.handler.task.InputReader;
import dev.berth.handler.task.Row;
import dev.berth.handler.task.RowModel;
import dev.berth.handler.task.TaskHandler;
import dev.berth.handler.task.TaskInput;
import dev.berth.handler.task.TaskRecord;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.Signature.Column;
import dev.berth.tokenizer.Encoding;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Truncation;
import dev.berth.tokenizer.Vocabulary;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A task on texts: it reads them in any form, makes rows of tokens, runs the model on them and
/// writes what a task makes of the output.
///
/// A task says in its subclass which parameters it has, and what it answers. The words of requests
/// and answers are those of the pipelines of `transformers`.
///
/// @param <P> the parameters of the task
public abstract class TextHandler<P extends TextHandler.TextParameters>
        extends TaskHandler<RowModel, TextHandler.EncodedText, P> {

    private static final List<MediaType> REQUEST_TYPES = Stream.concat(
                    ContentTypes.mediaTypes(OfDocuments.class).stream(), Stream.of(MediaType.TEXT))
            .toList();

    private static final String ANSWER = TextQuestions.class.getName();
    private static final String ASKED = TextForm.class.getName();
    private static final String REPEATS = Repeats.class.getName();

    /// The parameters of a task that say how texts become rows.
    public interface TextParameters {

        /// What stands in front of each text.
        default String prompt() {
            return "";
        }

        /// Whether a text that is too long is cut; else it is an error.
        default boolean truncation() {
            return true;
        }
    }

    /// A text and the row of tokens that the model gets of it.
    public record EncodedText(TextInput text, Encoding row) {}

    /// The fields of an input as CSV.
    protected static final List<String> ONE_TEXT = List.of("text");

    protected static final List<String> PAIR_OF_TEXTS = List.of("text", "text_pair");

    private final ModelArtifact artifact;
    private final String output;
    private final boolean perToken;
    private final boolean takesPairs;

    /// The artifact's.
    protected final Tokenizer tokenizer;

    private final Truncation longest;
    private final Optional<AnswerCache> cache;

    /// @param output the name of the model's output
    /// @param perToken whether that has numbers for each token, and not for the row
    /// @param fields of an input: one text, or a pair of them
    /// @param columns of an answer as CSV
    protected TextHandler(
            ModelArtifact artifact,
            String output,
            boolean perToken,
            List<String> fields,
            List<Column> columns,
            InputReader<P> reader) {
        RowModel.check(artifact, List.of(output));
        super(artifact, reader, fields, columns, (accelerator, graphs) -> new RowModel(artifact, accelerator, graphs));
        this.artifact = artifact;
        this.output = output;
        this.perToken = perToken;
        this.takesPairs = fields.equals(PAIR_OF_TEXTS);
        this.tokenizer = tokenizer(artifact);
        this.longest = tokenizer.truncation(artifact.longestRow());
        this.cache = AnswerCache.of(artifact.directory());
    }

    /// What a record is answered, as plain Java.
    ///
    /// @param output of the model, the numbers of the row or those of its [places][#places]
    protected abstract Object answer(TaskRecord<EncodedText, P> record, float[] output);

    /// Looks at a row before the model gets it.
    ///
    /// @param name what messages call the text
    /// @throws BadInputException when the task can't use it
    protected void checkRow(Encoding row, String name) {}

    /// The tokens of a row whose numbers [#answer] gets, where tokens have numbers of their own.
    protected int[] places(long[] ids) {
        return IntStream.range(0, ids.length).toArray();
    }

    /// The task that forms of other APIs take this for.
    protected String askedAs() {
        return artifact.task();
    }

    /// Whether a record that equals another one gets its answer, of the same request or out of the cache.
    protected boolean joinsRepeats() {
        return false;
    }

    /// What an answer takes in the cache.
    protected int bytes(Object answer) {
        return Integer.MAX_VALUE;
    }

    /// What the model is warmed up with. The second half of its tokens is an input of the task too.
    protected String example() {
        return "The engine is warm.";
    }

    @Override
    protected void warmUp(RowModel model) {
        model.warmUp(new Row(tokenizer.encode(example(), longest)), rows -> forward(rows, model));
    }

    @Override
    public RowModel modelFn(ModelContext context) {
        cache.ifPresent(answers -> answers.countIn(context.metrics()));
        return super.modelFn(context);
    }

    private List<float[]> forward(List<Row> rows, RowModel model) {
        var outputs = model.forward(rows);
        return perToken
                ? outputs.ofPlaces(
                        output, rows.stream().map(row -> places(row.ids())).toList())
                : outputs.ofRows(output, rows.size());
    }

    @Override
    public List<MediaType> requestTypes() {
        return REQUEST_TYPES;
    }

    /// JSON: a text, `{"text": …}`, a list of those, or any of them as `{"inputs": …, "parameters":
    /// {…}}`. JSON Lines: one of them in each line. CSV: the columns `text` and, for pairs,
    /// `text_pair`, as many as its first row has. Plain text: one text. As JSON those of other APIs too.
    @Override
    protected Documents documents(InvocationRequest request) throws IOException {
        if (MediaType.TEXT.includes(request.contentType())) {
            return new Documents.Body(TextNode.valueOf(request.text()));
        }
        var reader = ContentTypes.reading(request, OfDocuments.class);
        if (!(reader instanceof CsvType) || !takesPairs) {
            var documents = super.documents(request);
            return documents instanceof Documents.Body(var body)
                    ? new Documents.Body(ofTask(request, body))
                    : documents;
        }
        var text = request.text();
        var rows = Csv.rows(text);
        var fields = rows.isEmpty() || rows.getFirst().length > 1 ? PAIR_OF_TEXTS : ONE_TEXT;
        var body = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
        return reader.readDocuments(request.withBody(body), fields);
    }

    private JsonNode ofTask(InvocationRequest request, JsonNode body) {
        for (var form : TextForm.ALL) {
            var asked = form.read(request, body, askedAs());
            if (asked.isPresent()) {
                request.attributes().put(ASKED, asked.get());
                return asked.get().body();
            }
        }
        return body;
    }

    @Override
    protected Function<TaskInput<P>, EncodedText> reading() {
        return this::read;
    }

    private EncodedText read(TaskInput<P> input) {
        var text = TextInput.read(input, takesPairs);
        var whole = input.parameters().prompt().concat(text.text());
        var cut = input.parameters().truncation() ? longest : Truncation.NONE;
        var row = text.pair()
                .map(pair -> tokenizer.encode(whole, pair, cut))
                .orElseGet(() -> tokenizer.encode(whole, cut));
        if (row.size() > longest.maxLength()) {
            throw new BadInputException(
                    "%s: found %d tokens, expected at most the %d that the model takes; \"parameters\": {\"truncation\": true} cuts longer texts"
                            .formatted(input.name(), row.size(), longest.maxLength()));
        }
        if (row.size() == 0) {
            throw new BadInputException("%s: found no tokens in %s, expected a text that has some"
                    .formatted(input.name(), Excerpt.quoted(whole)));
        }
        checkRow(row, input.name());
        return new EncodedText(text, row);
    }

    /// Answers what needs no model at once, and counts the tokens for the protocols whose answers say
    /// how many there were.
    @Override
    public List<TaskRecord<EncodedText, P>> inputFn(InvocationRequest request) throws IOException {
        for (var questions : TextQuestions.ALL) {
            var answer = questions.answer(request, artifact, tokenizer);
            if (answer.isPresent()) {
                request.attributes().put(ANSWER, answer.get());
                return List.of();
            }
        }
        var records = records(request);
        request.attributes()
                .put(
                        InvocationRequest.TOKENS,
                        records.stream().mapToInt(this::length).sum());
        if (!joinsRepeats()) {
            return records;
        }
        var repeats = new Repeats<>(
                records, record -> new AnswerCache.Asked(record.input().text(), record.parameters()), cache);
        request.attributes().put(REPEATS, repeats);
        return repeats.unknown();
    }

    private List<TaskRecord<EncodedText, P>> records(InvocationRequest request) throws IOException {
        try {
            return super.inputFn(request);
        } catch (BadInputException e) {
            throw request.attributes().get(ASKED) instanceof TextForm.Asked asked
                    ? new BadInputException(asked.named(e.getMessage()), e)
                    : e;
        }
    }

    @Override
    public InvocationResponse outputFn(List<Object> answers, InvocationRequest request) throws IOException {
        var answer = request.attributes().get(ANSWER);
        if (answer != null) {
            return InvocationResponse.of(Json.write(answer), MediaType.JSON);
        }
        var all = request.attributes().get(REPEATS) instanceof Repeats<?> repeats
                ? repeats.all(answers, this::bytes)
                : answers;
        return request.attributes().get(ASKED) instanceof TextForm.Asked asked
                ? asked.answer(all, (int) request.attributes().get(InvocationRequest.TOKENS))
                : written(all, request);
    }

    /// Writes the answers to a request in the task's own form.
    protected InvocationResponse written(List<Object> answers, InvocationRequest request) throws IOException {
        return super.outputFn(answers, request);
    }

    @Override
    public int length(TaskRecord<EncodedText, P> record) {
        return record.input().row().size();
    }

    @Override
    public List<Object> predictFn(List<TaskRecord<EncodedText, P>> records, RowModel model) {
        var rows = records.stream().map(record -> new Row(record.input().row())).toList();
        var outputs = model.inForwards(rows, some -> forward(some, model));
        return IntStream.range(0, records.size())
                .<Object>mapToObj(i -> answer(records.get(i), outputs.get(i)))
                .toList();
    }

    /// The tokens of an artifact.
    protected static Vocabulary vocabulary(ModelArtifact artifact) {
        try {
            return Vocabulary.read(artifact.tokenizer());
        } catch (IOException e) {
            throw new ModelArtifactException(artifact.directory(), "tokenizer.json: " + e.getMessage(), e);
        }
    }

    @Override
    public void close() {
        super.close();
        tokenizer.close();
    }
}
