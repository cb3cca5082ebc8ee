package dev.berth.qa;

import com.fasterxml.jackson.databind.json.JsonMapper;
import dev.berth.artifact.ModelArtifact;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.Shapes;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.torch.Tokenizer;
import dev.berth.torch.TorchException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CancellationException;
import java.util.function.Supplier;

/// Extractive question answering: finds the answer to a question in a context, and where it stands there.
///
/// 1. `modelFn` loads the TorchScript of the model artifact, once for each accelerator.
/// 2. `inputFn` reads questions from JSON, JSON Lines or CSV, tokenises them and plans windows over each context.
/// 3. `predictFn` runs the model on the windows and keeps the best spans.
/// 4. `outputFn` writes the answers as JSON, JSON Lines or CSV.
///
/// The answers are those of the question-answering pipeline of `transformers` 4. Extend this class to change one hook.
public class QuestionAnsweringHandler
    implements InferenceHandler<SpanModel, QuestionRecord, QuestionAnswer>, AutoCloseable {

  private static final JsonMapper JSON = new JsonMapper();

  private final ModelArtifact artifact;
  private final Tokenizer tokenizer;
  private final QuestionReader reader;
  private final QuestionEncoder encoder;
  private final AnswerWriter writer = new AnswerWriter();
  private final Sample sample;

  /// Loaded models by accelerator, all of them or none: the workers of one accelerator share one copy. Guarded by this
  /// map's monitor; workers start one after another and only then touch it.
  private final Map<Accelerator, SpanModel> models = new HashMap<>();

  public QuestionAnsweringHandler(Path modelDirectory) {
    this(ModelArtifact.open(modelDirectory));
  }

  public QuestionAnsweringHandler(ModelArtifact artifact) {
    checkInputs(artifact);
    this.artifact = artifact;
    int longestRow = switch (artifact.shapes()) {
      case Shapes.Dynamic _ -> artifact.maxSequenceLength();
      case Shapes.Compiled(var shapes) -> shapes.getLast().sequence();
    };
    this.sample = new Sample(artifact);
    this.reader = new QuestionReader(parameters(artifact, longestRow), longestRow);
    this.tokenizer = Tokenizer.load(artifact.tokenizer());
    this.encoder = new QuestionEncoder(tokenizer, artifact.pair(), longestRow);
  }

  @Override
  public SpanModel modelFn(ModelContext context) {
    synchronized (models) {
      if (models.isEmpty()) {
        models.putAll(SpanModel.load(artifact, context.accelerators()));
      }
      return models.get(context.accelerator());
    }
  }

  /// Runs every shape, then the artifact's sample through all hooks.
  ///
  /// @throws ModelArtifactException when what the sample was answered with when the model was traced is no longer among
  ///     the best answers
  @Override
  public void warmUpFn(SpanModel model) throws IOException {
    try {
      model.warmUp();
    } catch (TorchException e) {
      throw new ModelArtifactException(artifact.directory(), List.of(
          "the model does not take what model.json says it does: " + e.getMessage()));
    }
    for (var type : responseTypes()) {
      var request = sample.request(type);
      var records = sampleRecords(request);
      outputFn(predictSample(records, model), request);
      sample.check(predictFn(sample.question(records), model));
    }
  }

  private List<QuestionAnswer> predictSample(List<QuestionRecord> records, SpanModel model) {
    try {
      return predictFn(records, model);
    } catch (TorchException e) {
      throw sample.problem("%s; do its files belong together?".formatted(e.getMessage()));
    }
  }

  private List<QuestionRecord> sampleRecords(InvocationRequest request) throws IOException {
    try {
      return inputFn(request);
    } catch (BadInputException e) {
      throw sample.problem(e.getMessage());
    }
  }

  @Override
  public List<MediaType> requestTypes() {
    return QuestionReader.TYPES;
  }

  @Override
  public List<MediaType> responseTypes() {
    return AnswerWriter.TYPES;
  }

  @Override
  public List<QuestionRecord> inputFn(InvocationRequest request) throws IOException {
    var questions = reader.read(request);
    boolean keep = request.keepBadRecords() && QuestionReader.isLines(request.contentType());
    var records = new ArrayList<QuestionRecord>(questions.size());
    for (var question : questions) {
      records.add(record(question, keep));
    }
    return records;
  }

  /// The tokens of a record's windows.
  @Override
  public int length(QuestionRecord record) {
    return switch (record) {
      case QuestionRecord.Encoded(_, var question, _, var windows) -> {
        long perWindow = artifact.pair().size() + question.length;
        yield (int) Math.min(Integer.MAX_VALUE, windows.totalTokens() + windows.count() * perWindow);
      }
      case QuestionRecord.Rejected _ -> 1;
    };
  }

  @Override
  public List<QuestionAnswer> predictFn(List<QuestionRecord> records, SpanModel model) {
    var searches = records.stream().map(this::search).toList();
    var waiting = new ArrayList<Window>();
    int longest = 0;
    for (int i = 0; i < records.size(); i++) {
      if (!(records.get(i) instanceof QuestionRecord.Encoded record)) {
        continue;
      }
      for (int w = 0; w < record.windows().count(); w++) {
        var window = new Window(record, w, encoder.row(record, w), searches.get(i));
        int length = Math.max(longest, window.row.ids().length);
        if (!waiting.isEmpty() && waiting.size() >= model.rowsOfAForward(length)) {
          predict(waiting, model);
          length = window.row.ids().length;
        }
        waiting.add(window);
        longest = length;
      }
    }
    if (!waiting.isEmpty()) {
      predict(waiting, model);
    }
    var answers = new ArrayList<QuestionAnswer>(records.size());
    for (int i = 0; i < records.size(); i++) {
      answers.add(answer(records.get(i), searches.get(i)));
    }
    return answers;
  }

  @Override
  public InvocationResponse outputFn(List<QuestionAnswer> answers, InvocationRequest request) throws IOException {
    return InvocationResponse.of(writer.write(answers, request.accept()), request.accept());
  }

  @Override
  public void close() {
    synchronized (models) {
      models.values().forEach(SpanModel::close);
      models.clear();
    }
    tokenizer.close();
  }

  /// One window of a record on its way through the model.
  private record Window(QuestionRecord.Encoded record, int number, SpanModel.Row row, SpanSearch search) {}

  private QuestionRecord record(Supplier<Question> question, boolean keep) {
    try {
      return encoder.encode(question.get());
    } catch (BadInputException e) {
      if (keep) {
        return new QuestionRecord.Rejected(e.getMessage());
      }
      throw e;
    }
  }

  /// A record that was rejected has no search and needs none.
  private SpanSearch search(QuestionRecord record) {
    return switch (record) {
      case QuestionRecord.Encoded encoded ->
          new SpanSearch(encoded.question().parameters(), artifact.pair().hasClassification());
      case QuestionRecord.Rejected _ -> null;
    };
  }

  /// Runs the waiting windows through the model and empties the list. A long context takes many forwards, so this is
  /// the place to stop when nobody waits for the answer any more.
  private void predict(List<Window> waiting, SpanModel model) {
    if (Thread.currentThread().isInterrupted()) {
      throw new CancellationException("nobody waits for this batch any more");
    }
    var logits = model.forward(waiting.stream().map(Window::row).toList());
    for (int r = 0; r < waiting.size(); r++) {
      var window = waiting.get(r);
      int first = window.record.windows().start(window.number);
      int tokens = window.record.windows().end(window.number) - first;
      int row = r * logits.columns();
      window.search.add(logits.start(), logits.end(), row, encoder.contextOffset(window.record), tokens, first);
    }
    waiting.clear();
  }

  private static QuestionAnswer answer(QuestionRecord record, SpanSearch search) {
    return switch (record) {
      case QuestionRecord.Rejected(var message) -> new QuestionAnswer.Rejected(message);
      case QuestionRecord.Encoded encoded -> {
        var question = encoded.question();
        var answers = search.best().stream().map(span -> answer(encoded, span)).toList();
        yield new QuestionAnswer.Answered(answers, question.parameters().topK() > 1, question.alone());
      }
    };
  }

  private static Answer answer(QuestionRecord.Encoded record, SpanSearch.Span span) {
    if (span.first() == SpanSearch.NO_ANSWER) {
      return new Answer("", span.score(), 0, 0);
    }
    var tokens = record.context();
    var whole = record.question().parameters().alignToWords();
    int start = whole ? tokens.wordStart(span.first()) : tokens.starts()[span.first()];
    int end = whole ? tokens.wordEnd(span.last()) : tokens.ends()[span.last()];
    var context = record.question().context();
    int from = context.offsetByCodePoints(0, start);
    int to = context.offsetByCodePoints(from, end - start);
    return new Answer(context.substring(from, to), span.score(), start, end);
  }

  /// The pipeline's defaults with the artifact's own over them.
  private static Parameters parameters(ModelArtifact artifact, int longestRow) {
    try {
      return Parameters.defaults(longestRow)
          .with(JSON.valueToTree(artifact.parameters()), "model.json: parameters", longestRow);
    } catch (BadInputException e) {
      throw new ModelArtifactException(artifact.directory(), List.of(e.getMessage()));
    }
  }

  private static void checkInputs(ModelArtifact artifact) {
    var unknown = artifact.inputs().stream().filter(input -> !SpanModel.INPUTS.contains(input)).toList();
    var problems = new ArrayList<String>();
    if (artifact.inputs().stream().distinct().count() < artifact.inputs().size()) {
      problems.add("model.json: inputs: found %s, expected each once".formatted(artifact.inputs()));
    }
    if (!unknown.isEmpty()) {
      problems.add("model.json: inputs: found %s, expected names among %s".formatted(unknown, SpanModel.INPUTS));
    }
    if (!artifact.outputs().equals(SpanModel.OUTPUTS)) {
      problems.add("model.json: outputs: found %s, expected %s".formatted(artifact.outputs(), SpanModel.OUTPUTS));
    }
    if (!problems.isEmpty()) {
      throw new ModelArtifactException(artifact.directory(), problems);
    }
  }
}
