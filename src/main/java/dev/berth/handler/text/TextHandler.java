package dev.berth.handler.text;

import com.fasterxml.jackson.databind.node.TextNode;
import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.Shapes;
import dev.berth.content.ContentType.OfDocuments;
import dev.berth.content.ContentTypes;
import dev.berth.content.Csv;
import dev.berth.content.Documents;
import dev.berth.content.Excerpt;
import dev.berth.content.Fields;
import dev.berth.handler.task.Copies;
import dev.berth.handler.task.Input;
import dev.berth.handler.task.InputReader;
import dev.berth.handler.task.RowModel;
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
import dev.berth.tokenizer.Encoding;
import dev.berth.tokenizer.Tokenizer;
import dev.berth.tokenizer.Truncation;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.BiFunction;
import java.util.function.Predicate;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A task on texts: it reads them in any form, makes rows of tokens, runs the model on them and
/// writes what a task makes of the output.
///
/// A task says in its subclass which parameters it has, and what it answers. The words of requests
/// and answers are those of the pipelines of `transformers`.
///
/// @param <P> the parameters of the task
public abstract class TextHandler<P>
    implements InferenceHandler<TextModel, TextRecord<P>, TaskAnswer>, AutoCloseable {

  private static final List<MediaType> REQUEST_TYPES =
      Stream.concat(ContentTypes.mediaTypes(OfDocuments.class).stream(), Stream.of(MediaType.TEXT))
          .toList();
  private static final List<MediaType> RESPONSE_TYPES = ContentTypes.mediaTypes(OfDocuments.class);

  /// What is special about a task.
  ///
  /// @param output the name of the model's output
  /// @param perToken whether the output has numbers for each token, and not for the row
  /// @param pairs whether it takes pairs of texts
  /// @param columns of an answer as CSV
  /// @param parameters the names of its parameters
  /// @param defaults what they are by default
  /// @param read reads them over others
  /// @param truncates whether a text that is too long is cut
  protected record Task<P>(
      String output,
      boolean perToken,
      boolean pairs,
      List<String> columns,
      List<String> parameters,
      P defaults,
      BiFunction<P, Fields, P> read,
      Predicate<P> truncates) {}

  private final ModelArtifact artifact;
  private final Task<P> task;

  /// The artifact's.
  protected final Tokenizer tokenizer;

  private final int longestRow;
  private final InputReader<P> reader;
  private final Copies<TextModel> models = new Copies<>();

  protected TextHandler(ModelArtifact artifact, Task<P> task) {
    this.artifact = artifact;
    this.task = task;
    this.longestRow = artifact.longestRow();
    RowModel.check(artifact, List.of(task.output));
    this.reader = new InputReader<>(artifact, task.parameters, task.read, task.defaults);
    try {
      this.tokenizer = Tokenizer.load(artifact.tokenizer());
    } catch (IOException e) {
      throw new ModelArtifactException(artifact.directory(), List.of(e.getMessage()), e);
    }
  }

  /// What a record is answered, as plain Java.
  ///
  /// @param output the model's for this row: its numbers, or those of its [#places] one behind the
  ///   other
  protected abstract Object answer(TextRecord.Encoded<P> record, float[] output);

  /// Looks at a row before the model gets it.
  ///
  /// @param name what messages call the text
  /// @throws BadInputException when the task can't use it
  protected void checkRow(Encoding row, String name) {}

  /// Whether a body of a list of so many inputs is answered as one input alone.
  protected boolean isAlone(int inputs) {
    return false;
  }

  /// The tokens of a row whose numbers [#answer] gets, where tokens have numbers of their own.
  protected int[] places(long[] ids) {
    return IntStream.range(0, ids.length).toArray();
  }

  /// What the model is warmed up with.
  protected String example() {
    return "The engine is warm.";
  }

  @Override
  public TextModel modelFn(ModelContext context) {
    return models.of(
        context, accelerators -> TextModel.load(artifact, task.perToken, accelerators));
  }

  /// Runs each shape. Workers that share a model need it once.
  ///
  /// @throws ModelArtifactException when the model fails
  @Override
  public void warmUpFn(TextModel model) {
    models.warmUp(
        model,
        artifact.directory(),
        "model.json and tokenizer.json say",
        () ->
            model.warmUp(
                tokenizer.encode(example(), tokenizer.truncation().to(longestRow)), this::places));
  }

  @Override
  public List<MediaType> requestTypes() {
    return REQUEST_TYPES;
  }

  /// The columns of CSV.
  @Override
  public Signature signature() {
    return new Signature(
        Stream.of("text", "text_pair").limit(task.pairs ? 2 : 1).map(Column::ofTexts).toList(),
        task.columns.stream().map(TextHandler::column).toList());
  }

  private static Column column(String name) {
    return switch (name) {
      case "score" -> Column.of(name, ElementType.FLOAT64);
      case "token", "start", "end" -> Column.of(name, ElementType.INT64);
      default -> Column.ofTexts(name);
    };
  }

  @Override
  public List<MediaType> responseTypes() {
    return RESPONSE_TYPES;
  }

  /// JSON: a text, `{"text": …}`, a list of those, or any of them as `{"inputs": …, "parameters":
  /// {…}}`. JSON Lines: one of them in each line. CSV: the columns `text` and, for pairs,
  /// `text_pair`. Plain text: one text.
  @Override
  public List<TextRecord<P>> inputFn(InvocationRequest request) throws IOException {
    return reader.read(
        request, documents(request), this::isAlone, this::record, TextRecord.Rejected::new);
  }

  /// What a request holds. The columns of CSV are those of its first row: a text, or a pair.
  protected Documents documents(InvocationRequest request) throws IOException {
    if (MediaType.TEXT.includes(request.contentType())) {
      return new Documents.Body(TextNode.valueOf(request.text()));
    }
    var reader = ContentTypes.reading(request, OfDocuments.class);
    if (!(reader instanceof Csv) || !task.pairs) {
      return reader.readDocuments(request, List.of("text"));
    }
    var text = request.text();
    var rows = Csv.rows(text);
    var fields =
        rows.isEmpty() || rows.getFirst().length > 1
            ? List.of("text", "text_pair")
            : List.of("text");
    var body = new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8));
    return reader.readDocuments(request.withBody(body), fields);
  }

  private TextRecord<P> record(Input<P> input) {
    var text = Text.read(input.json(), input.name(), task.pairs);
    var row = encode(text, input.name(), task.truncates.test(input.parameters()));
    checkRow(row, input.name());
    return new TextRecord.Encoded<>(text, input.parameters(), input.alone(), row);
  }

  private Encoding encode(Text text, String name, boolean truncate) {
    var cut = truncate ? tokenizer.truncation().to(longestRow) : Truncation.NONE;
    var row =
        text.pair().isPresent()
            ? tokenizer.encode(text.text(), text.pair().get(), cut)
            : tokenizer.encode(text.text(), cut);
    if (row.size() > longestRow) {
      throw new BadInputException(
          "%s: found %d tokens, expected at most the %d that the model takes; %s cuts longer texts"
              .formatted(name, row.size(), longestRow, "\"parameters\": {\"truncation\": true}"));
    }
    if (row.size() == 0) {
      throw new BadInputException(
          "%s: found no tokens in %s, expected a text that has some".formatted(name, shown(text)));
    }
    return row;
  }

  private static String shown(Text text) {
    return Excerpt.quoted(text.text());
  }

  @Override
  public int length(TextRecord<P> record) {
    return switch (record) {
      case TextRecord.Encoded<P> encoded -> encoded.row().size();
      case TextRecord.Rejected<P> _ -> 1;
    };
  }

  /// A compiled model takes a fixed number of rows.
  @Override
  public int maxBatchSize(Accelerator accelerator) {
    return artifact.shapes() instanceof Shapes.Compiled compiled
        ? compiled.largestBatch()
        : InferenceHandler.super.maxBatchSize(accelerator);
  }

  @Override
  public List<TaskAnswer> predictFn(List<TextRecord<P>> records, TextModel model) {
    var asked = new ArrayList<TextModel.Asked>();
    for (var record : records) {
      if (record instanceof TextRecord.Encoded<P> encoded) {
        asked.add(new TextModel.Asked(encoded.row(), places(encoded.row().ids())));
      }
    }
    var outputs = model.forward(asked).iterator();
    return records.stream()
        .<TaskAnswer>map(
            record ->
                switch (record) {
                  case TextRecord.Encoded<P> encoded ->
                      new TaskAnswer.Answered(answer(encoded, outputs.next()), encoded.alone());
                  case TextRecord.Rejected<P>(var message) -> new TaskAnswer.Rejected(message);
                })
        .toList();
  }

  @Override
  public InvocationResponse outputFn(List<TaskAnswer> answers, InvocationRequest request)
      throws IOException {
    return TaskAnswer.write(answers, task.columns, request);
  }

  @Override
  public void close() {
    models.close(TextModel::close);
    tokenizer.close();
  }
}
