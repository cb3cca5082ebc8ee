package dev.berth.command;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.MissingNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.artifact.Agreement;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.hub.HubModel;
import dev.berth.json.JsonText;
import dev.berth.tokenizer.Tokenizer;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Base64;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;

/// What a model is asked while it is packed, and how far two files of it give the same answers. The
/// questions are English.
final class Trial {

  /// The share of equal answers, as in `trace.py`.
  private static final double GOOD = 0.9;

  /// The cosine of two vectors that are the same.
  private static final double SAME_VECTOR = 0.98;

  /// How near two numbers of a model of one class must be, measured by how far apart those of
  /// different texts are.
  private static final double SAME_NUMBER = 0.05;

  private static final int PICTURES = 40;
  private static final int MOST_LABELS = 100_000;

  private static final int LONGEST_CONTEXT = 2000;

  private final String task;
  private final boolean hasOneClass;
  private final boolean isOfSeveralClasses;
  private final Object sample;
  private final List<Object> requests = new ArrayList<>();

  Trial(HubModel model) throws IOException {
    this.task = model.task();
    this.hasOneClass = model.description().path("labels").size() == 1;
    this.isOfSeveralClasses =
        model.description().at("/parameters/function_to_apply").asText().equals("sigmoid");
    var inputs = isOfPictures() ? pictures() : texts(model);
    this.sample = isOfQuestions() ? inputs.getFirst() : Map.of("inputs", inputs.getFirst());
    for (var input : inputs) {
      requests.add(isOfQuestions() ? input : Map.of("inputs", input, "parameters", parameters()));
    }
  }

  boolean isOfQuestions() {
    return task.equals("question-answering");
  }

  private boolean isOfPictures() {
    return task.equals("image-classification");
  }

  private boolean isOfTexts() {
    return task.equals("text-classification");
  }

  Object sample() {
    return sample;
  }

  private Map<String, Object> parameters() {
    var labels = Map.<String, Object>of("top_k", MOST_LABELS);
    return switch (task) {
      case "text-classification" ->
          hasOneClass
              ? Map.of("top_k", 1, "function_to_apply", "none", "truncation", true)
              : Map.of("top_k", MOST_LABELS, "truncation", true);
      case "image-classification" -> labels;
      case "fill-mask" -> Map.of("truncation", true);
      default -> Map.of();
    };
  }

  private List<Object> texts(HubModel model) throws IOException {
    var texts = new ArrayList<>();
    try (var lines = HubModel.class.getResourceAsStream("questions.jsonl")) {
      for (var line : JsonText.readAll(lines.readAllBytes())) {
        var question = line.path("question").asText();
        var context = line.path("context").asText();
        if (question.isBlank() || context.isBlank() || context.length() > LONGEST_CONTEXT) {
          continue;
        }
        if (isOfQuestions()) {
          texts.add(object().put("question", question).put("context", context));
        } else if (isOfTexts() && hasOneClass) {
          texts.add(object().put("text", question).put("text_pair", context));
        } else {
          texts.add(task.equals("fill-mask") ? masked(context, model) : context);
        }
      }
    }
    return texts.stream().distinct().toList();
  }

  private static ObjectNode object() {
    return JsonNodeFactory.instance.objectNode();
  }

  /// With its second word to be filled in.
  private static String masked(String text, HubModel model) throws IOException {
    try (var tokenizer = Tokenizer.load(model.directory())) {
      var words = new ArrayList<>(List.of(text.split(" ")));
      words.set(Math.min(1, words.size() - 1), tokenizer.maskToken().orElse(""));
      return String.join(" ", words);
    }
  }

  /// Colours that run into each other, as BMP in base64.
  private static List<Object> pictures() {
    int width = 40;
    int height = 32;
    return IntStream.range(0, PICTURES)
        .<Object>mapToObj(
            number -> {
              var chance = new Random(number);
              var bmp = ByteBuffer.allocate(54 + 3 * width * height).order(ByteOrder.LITTLE_ENDIAN);
              bmp.put((byte) 'B').put((byte) 'M').putInt(bmp.capacity()).putInt(0).putInt(54);
              bmp.putInt(40).putInt(width).putInt(height).putShort((short) 1).putShort((short) 24);
              bmp.position(54);
              var corners = chance.ints(12, 0, 256).toArray();
              for (int y = 0; y < height; y++) {
                for (int x = 0; x < width; x++) {
                  for (int c = 0; c < 3; c++) {
                    int top = corners[c] * (width - x) + corners[c + 3] * x;
                    int bottom = corners[c + 6] * (width - x) + corners[c + 9] * x;
                    bmp.put((byte) ((top * (height - y) + bottom * y) / (width * height)));
                  }
                }
              }
              return Base64.getEncoder().encodeToString(bmp.array());
            })
        .toList();
  }

  /// The answers to the sample and to all that is asked. What a model refuses has none.
  ///
  /// @throws StartException when it does not answer the sample
  List<JsonNode> ask(InProcessModel model) throws IOException, StartException {
    var answers = new ArrayList<JsonNode>();
    try {
      answers.add(ask(model, sample));
    } catch (ServingException e) {
      throw new StartException("the model does not answer the sample: " + e.getMessage());
    }
    for (var request : requests) {
      try {
        answers.add(ask(model, request));
      } catch (ServingException _) {
        answers.add(MissingNode.getInstance());
      }
    }
    return answers;
  }

  private static JsonNode ask(InProcessModel model, Object request) throws IOException {
    return JsonText.read(
        model.invoke(MediaType.JSON, JsonText.bytes(request), MediaType.JSON).body());
  }

  static boolean agrees(Agreement agreement) {
    return agreement.sameAnswers() >= GOOD * agreement.questions();
  }

  /// @param full the answers of the file that is right
  Agreement compare(List<JsonNode> full, List<JsonNode> others) {
    var numbers =
        full.stream()
            .skip(1)
            .mapToDouble(answer -> answer.at("/0/score").asDouble())
            .summaryStatistics();
    double near = SAME_NUMBER * (numbers.getMax() - numbers.getMin());
    int questions = 0;
    int same = 0;
    double apart = 0;
    for (int i = 1; i < full.size(); i++) {
      var one = full.get(i);
      var other = others.get(i);
      if (one.isMissingNode()) {
        continue;
      }
      double difference =
          task.equals("sentence-embeddings")
              ? 1 - cosine(one, other)
              : Math.abs(score(one) - score(other));
      questions++;
      same += isSame(one, other, difference, near) ? 1 : 0;
      apart = Math.max(apart, difference);
    }
    return new Agreement(questions, same, Math.clamp(apart, 0, 1));
  }

  private static double score(JsonNode answer) {
    return (answer.isArray() ? answer.path(0) : answer).path("score").asDouble();
  }

  private boolean isSame(JsonNode one, JsonNode other, double difference, double near) {
    return switch (task) {
      case "question-answering" -> isEqual(one, other, "start") && isEqual(one, other, "end");
      case "sentence-embeddings" -> difference <= 1 - SAME_VECTOR;
      case "fill-mask" -> isEqual(one.path(0), other.path(0), "token");
      case "token-classification" -> entities(one).equals(entities(other));
      default ->
          hasOneClass
              ? difference <= near
              : isEqual(one.path(0), other.path(0), "label")
                  && (!isOfSeveralClasses || likely(one).equals(likely(other)));
    };
  }

  private static boolean isEqual(JsonNode one, JsonNode other, String field) {
    return one.path(field).equals(other.path(field));
  }

  private static List<String> entities(JsonNode answer) {
    return answer
        .valueStream()
        .map(entity -> entity.path("entity") + "@" + entity.path("index"))
        .toList();
  }

  private static List<JsonNode> likely(JsonNode answer) {
    return answer
        .valueStream()
        .filter(label -> label.path("score").asDouble() > 0.5)
        .map(label -> label.path("label"))
        .sorted(Comparator.comparing(JsonNode::asText))
        .toList();
  }

  private static double cosine(JsonNode one, JsonNode other) {
    double product = 0;
    double squares = 0;
    double others = 0;
    for (int i = 0; i < one.size(); i++) {
      double a = one.path(i).asDouble();
      double b = other.path(i).asDouble();
      product += a * b;
      squares += a * a;
      others += b * b;
    }
    return product / Math.max(Math.sqrt(squares * others), Double.MIN_NORMAL);
  }
}
