package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.content.Excerpt;
import dev.berth.handler.task.ScoreFunction;
import dev.berth.json.JsonText;
import dev.berth.tokenizer.Tokenizer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;

/// A task whose models are served as they lie on Hugging Face's hub: what `model.json` would say of
/// them, and whether two files of one model answer alike. `serve pack` asks, and so does a server
/// whose `--model-dir` is such a directory. One thread calls it. They are in the order in which they
/// are tried.
enum HubTask {
    QUESTION_ANSWERING("ForQuestionAnswering") {
        // Answers are widened to whole words, unless the tokenizer knows none.
        @Override
        void describe(HubModel model) {
            model.outputs("start_logits and end_logits", "start", "end");
            model.rows();
            if (model.isUnspaced()) {
                model.description.putObject("parameters").put("align_to_words", false);
            }
        }

        @Override
        Stream<ObjectNode> requests(List<Passage> passages, HubModel model) {
            return passages.stream().map(passage -> (ObjectNode) JsonText.tree(passage));
        }

        @Override
        boolean isSame(JsonNode one, JsonNode other, JsonNode description, double near) {
            return one.path("start").equals(other.path("start"))
                    && one.path("end").equals(other.path("end"));
        }
    },

    TEXT_CLASSIFICATION("ForSequenceClassification") {
        private record Pair(String text, String text_pair) {}

        @Override
        void describe(HubModel model) {
            super.describe(model);
            describeClasses(model, true);
        }

        // A model of one class ranks pairs.
        @Override
        Stream<ObjectNode> requests(List<Passage> passages, HubModel model) {
            return passages.stream()
                    .map(passage -> hasOneClass(model.description)
                            ? request(
                                    new Pair(passage.question(), passage.context()),
                                    Map.of("top_k", 1, "function_to_apply", "none", "truncation", true))
                            : request(passage.context(), Map.of("top_k", ALL_LABELS, "truncation", true)));
        }
    },

    TOKEN_CLASSIFICATION("ForTokenClassification") {
        @Override
        void describe(HubModel model) {
            super.describe(model);
            model.labels();
        }

        @Override
        boolean isSame(JsonNode one, JsonNode other, JsonNode description, double near) {
            return entities(one).equals(entities(other));
        }

        private static List<String> entities(JsonNode answer) {
            return answer.valueStream()
                    .map(entity -> entity.path("entity") + "@" + entity.path("index"))
                    .toList();
        }
    },

    FILL_MASK("ForMaskedLM") {
        // With modules it makes vectors of sentences.
        @Override
        Optional<String> shownBy(HubModel model) {
            return super.shownBy(model).filter(_ -> !model.has(SentenceFiles.MODULES));
        }

        // With the second word to be filled in.
        @Override
        Stream<ObjectNode> requests(List<Passage> passages, HubModel model) throws IOException {
            try (var tokenizer = Tokenizer.load(model.directory)) {
                var mask = tokenizer.maskToken().orElse("");
                return passages.stream().map(passage -> {
                    var words = new ArrayList<>(List.of(passage.context().split(" ")));
                    words.set(Math.min(1, words.size() - 1), mask);
                    return request(String.join(" ", words), Map.of("truncation", true));
                });
            }
        }

        @Override
        boolean isSame(JsonNode one, JsonNode other, JsonNode description, double near) {
            return one.at("/0/token").equals(other.at("/0/token"));
        }
    },

    IMAGE_CLASSIFICATION("ForImageClassification") {
        private static final int PICTURES = 40;

        @Override
        void describe(HubModel model) {
            model.outputs("logits", "logits");
            model.pictures();
            describeClasses(model, false);
        }

        @Override
        Stream<ObjectNode> requests(List<Passage> passages, HubModel model) {
            return IntStream.range(0, PICTURES)
                    .mapToObj(seed -> request(TrialPicture.of(seed), Map.of("top_k", ALL_LABELS)));
        }
    },

    SPARSE_EMBEDDINGS("ForMaskedLM") {
        @Override
        Optional<String> shownBy(HubModel model) {
            return Optional.of(SentenceFiles.MODULES).filter(_ -> SentenceFiles.areSparse(model));
        }

        @Override
        void describe(HubModel model) {
            model.weights();
        }

        // By the cosine of the weights.
        @Override
        double difference(JsonNode one, JsonNode other) {
            return distance(Stream.concat(one.propertyStream(), other.propertyStream())
                    .map(Map.Entry::getKey)
                    .distinct()
                    .map(token -> new double[] {
                        one.path(token).asDouble(), other.path(token).asDouble()
                    }));
        }

        @Override
        boolean isSame(JsonNode one, JsonNode other, JsonNode description, double near) {
            return difference(one, other) <= SAME_VECTOR;
        }
    },

    SENTENCE_EMBEDDINGS("Model") {
        // A model without a head that has a tokenizer, or one with the modules of sentence-transformers.
        @Override
        Optional<String> shownBy(HubModel model) {
            var named = model.architecture();
            boolean isHeadless = named.endsWith(architecture) && !named.contains("Head");
            if (model.has(SentenceFiles.MODULES)) {
                return Optional.of(SentenceFiles.MODULES).filter(_ -> isHeadless || named.endsWith("ForMaskedLM"));
            }
            return Optional.of(named).filter(_ -> isHeadless && model.has("tokenizer.json"));
        }

        @Override
        void describe(HubModel model) {
            model.sentences();
        }

        // By the cosine of the vectors.
        @Override
        double difference(JsonNode one, JsonNode other) {
            return distance(IntStream.range(0, one.size()).mapToObj(i ->
                    new double[] {one.path(i).asDouble(), other.path(i).asDouble()}));
        }

        @Override
        boolean isSame(JsonNode one, JsonNode other, JsonNode description, double near) {
            return difference(one, other) <= SAME_VECTOR;
        }
    };

    /// A question and a text that may answer it, in English.
    record Passage(String question, String context) {}

    /// More than any model has.
    private static final int ALL_LABELS = 100_000;

    /// How far the cosine of two vectors that are the same may be from 1.
    private static final double SAME_VECTOR = 0.02;

    /// How the names of the architectures of its models end.
    final String architecture;

    HubTask(String architecture) {
        this.architecture = architecture;
    }

    /// Chooses the task of a model, and writes what `model.json` says of it.
    ///
    /// @throws dev.berth.artifact.ModelArtifactException when the model can't be served
    static HubTask of(HubModel model) {
        for (var task : values()) {
            var shown = task.shownBy(model);
            if (shown.isPresent()) {
                model.reasons.add("task: %s, by %s".formatted(task, shown.get()));
                model.describe(task.toString());
                task.describe(model);
                return task;
            }
        }
        throw model.refused(
                "config.json: architectures: found %s, expected one that ends with %s; serve it by hooks, docs/hooks.md"
                        .formatted(
                                Excerpt.of(model.json(HubModel.CONFIG)
                                        .path("architectures")
                                        .path(0)),
                                Arrays.stream(values())
                                        .map(task -> task.architecture)
                                        .collect(Collectors.joining(", "))
                                        .replaceFirst(", (\\w+)$", " or $1")));
    }

    /// What shows that a model is one of this task, for people. Empty: it is not.
    Optional<String> shownBy(HubModel model) {
        return Optional.of(model.architecture()).filter(end -> end.endsWith(architecture));
    }

    /// Adds to the model's description what the task needs, such as outputs, shapes and labels.
    ///
    /// @throws dev.berth.artifact.ModelArtifactException when the model can't be served
    void describe(HubModel model) {
        model.outputs("logits", "logits");
        model.rows();
    }

    /// What both files of a model are asked, as the bodies of requests. The first one without its
    /// `parameters` is the sample of the artifact.
    Stream<ObjectNode> requests(List<Passage> passages, HubModel model) throws IOException {
        return passages.stream().map(passage -> request(passage.context(), Map.of()));
    }

    /// How far apart two answers to the same request are, from 0 to 1 for scores.
    double difference(JsonNode one, JsonNode other) {
        return Math.abs(score(one) - score(other));
    }

    /// How far the cosine of two vectors is from 1.
    ///
    /// @param numbers of the one and the other
    private static double distance(Stream<double[]> numbers) {
        double product = 0;
        double squares = 0;
        double others = 0;
        for (var pair : (Iterable<double[]>) numbers::iterator) {
            product += pair[0] * pair[1];
            squares += pair[0] * pair[0];
            others += pair[1] * pair[1];
        }
        return 1 - product / Math.max(Math.sqrt(squares * others), Double.MIN_NORMAL);
    }

    /// What `model.json` calls it.
    @Override
    public String toString() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    private static double score(JsonNode answer) {
        return (answer.isArray() ? answer.path(0) : answer).path("score").asDouble();
    }

    private static ObjectNode request(Object input, Map<String, ?> parameters) {
        var body = JsonNodeFactory.instance.objectNode().putPOJO("inputs", input);
        return parameters.isEmpty() ? body : body.putPOJO("parameters", parameters);
    }

    /// Writes the labels, and the function that makes scores.
    ///
    /// @param mayBeNumber whether the one output of a model may be a number, and no class
    private static void describeClasses(HubModel model, boolean mayBeNumber) {
        int count = model.labels();
        var problem = model.json(HubModel.CONFIG).path("problem_type").asText();
        var function = mayBeNumber && problem.equals("regression")
                ? ScoreFunction.NONE
                : problem.equals("multi_label_classification") ? ScoreFunction.SIGMOID : ScoreFunction.usual(count);
        model.description
                .putObject("parameters")
                .put("function_to_apply", function.name().toLowerCase(Locale.ROOT));
    }

    private static boolean hasOneClass(JsonNode description) {
        return description.path("labels").size() == 1;
    }

    /// Whether two answers are the same as far as a caller minds: of classes the same best label, and
    /// the same likely ones where a record may have several.
    ///
    /// @param description of the model
    /// @param near how far apart two numbers of a model of one class may be
    boolean isSame(JsonNode one, JsonNode other, JsonNode description, double near) {
        if (hasOneClass(description)) {
            return difference(one, other) <= near;
        }
        boolean hasSeveral =
                description.at("/parameters/function_to_apply").asText().equals("sigmoid");
        return one.at("/0/label").equals(other.at("/0/label"))
                && (!hasSeveral || likely(one).equals(likely(other)));
    }

    private static List<String> likely(JsonNode answer) {
        return answer.valueStream()
                .filter(label -> label.path("score").asDouble() > 0.5)
                .map(label -> label.path("label").asText())
                .sorted()
                .toList();
    }
}
