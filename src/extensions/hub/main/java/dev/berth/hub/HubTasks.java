package dev.berth.hub;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.handler.task.ScoreFunction;
import dev.berth.json.JsonText;
import dev.berth.tokenizer.Tokenizer;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// The tasks of the hub's models.
final class HubTasks {

    /// In the order in which they are tried.
    static final List<HubTask> ALL = List.of(
            new Questions(), new TextClasses(), new TokenClasses(), new Masks(), new PictureClasses(), new Sentences());

    private HubTasks() {}

    /// Chooses the task of a model, and writes what `model.json` says of it.
    ///
    /// @throws dev.berth.artifact.ModelArtifactException when the model can't be served
    static HubTask describe(HubModel model) {
        for (var each : ALL) {
            var shown = each.shownBy(model);
            if (shown.isPresent()) {
                model.reasons.add("task: %s, by %s".formatted(each.name, shown.get()));
                model.describe(each.name);
                each.describe(model);
                return each;
            }
        }
        throw model.refused(
                "config.json: architectures: found %s, expected one that ends with %s; serve it by hooks, docs/hooks.md"
                        .formatted(
                                model.json(HubModel.CONFIG).path("architectures"),
                                ALL.stream()
                                        .map(task -> task.architecture)
                                        .collect(Collectors.joining(", "))
                                        .replaceFirst(", (\\w+)$", " or $1")));
    }

    private static final class Questions extends HubTask {

        Questions() {
            super("question-answering", "ForQuestionAnswering");
        }

        /// Answers are widened to whole words, unless the tokenizer knows none.
        @Override
        void describe(HubModel model) {
            model.outputs("start_logits and end_logits", "start", "end");
            model.rows();
            if (model.isUnspaced()) {
                model.description.putObject("parameters").put("align_to_words", false);
            }
        }

        @Override
        List<ObjectNode> requests(List<Passage> passages, HubModel model) {
            return passages.stream()
                    .map(passage -> (ObjectNode) JsonText.tree(passage))
                    .toList();
        }

        @Override
        boolean isSame(JsonNode one, JsonNode other, JsonNode description, double near) {
            return one.path("start").equals(other.path("start"))
                    && one.path("end").equals(other.path("end"));
        }
    }

    /// What tasks have in common whose answers are labels with scores.
    private abstract static class Classes extends HubTask {

        /// More than any model has.
        static final int ALL_LABELS = 100_000;

        Classes(String name, String architecture) {
            super(name, architecture);
        }

        /// Writes the labels, and the function that makes scores.
        ///
        /// @param mayBeNumber whether the one output of a model may be a number, and no class
        static void labels(HubModel model, boolean mayBeNumber) {
            int count = model.labels();
            var problem = model.json(HubModel.CONFIG).path("problem_type").asText();
            var function = mayBeNumber && problem.equals("regression")
                    ? ScoreFunction.NONE
                    : problem.equals("multi_label_classification") ? ScoreFunction.SIGMOID : ScoreFunction.usual(count);
            model.description
                    .putObject("parameters")
                    .put("function_to_apply", function.name().toLowerCase(Locale.ROOT));
        }

        static boolean hasOneClass(JsonNode description) {
            return description.path("labels").size() == 1;
        }

        /// The same best label, and the same likely ones where a record may have several.
        @Override
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

    private static final class TextClasses extends Classes {

        private record Pair(String text, String text_pair) {}

        TextClasses() {
            super("text-classification", "ForSequenceClassification");
        }

        @Override
        void describe(HubModel model) {
            super.describe(model);
            labels(model, true);
        }

        /// A model of one class ranks pairs.
        @Override
        List<ObjectNode> requests(List<Passage> passages, HubModel model) {
            return passages.stream()
                    .map(passage -> hasOneClass(model.description)
                            ? request(
                                    new Pair(passage.question(), passage.context()),
                                    Map.of("top_k", 1, "function_to_apply", "none", "truncation", true))
                            : request(passage.context(), Map.of("top_k", ALL_LABELS, "truncation", true)))
                    .toList();
        }
    }

    private static final class TokenClasses extends HubTask {

        TokenClasses() {
            super("token-classification", "ForTokenClassification");
        }

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
    }

    private static final class Masks extends HubTask {

        Masks() {
            super("fill-mask", "ForMaskedLM");
        }

        /// With modules it makes vectors of sentences.
        @Override
        Optional<String> shownBy(HubModel model) {
            return super.shownBy(model).filter(_ -> !model.has(SentenceFiles.MODULES));
        }

        /// With the second word to be filled in.
        @Override
        List<ObjectNode> requests(List<Passage> passages, HubModel model) throws IOException {
            try (var tokenizer = Tokenizer.load(model.directory)) {
                var mask = tokenizer.maskToken().orElse("");
                return passages.stream()
                        .map(passage -> {
                            var words =
                                    new ArrayList<>(List.of(passage.context().split(" ")));
                            words.set(Math.min(1, words.size() - 1), mask);
                            return request(String.join(" ", words), Map.of("truncation", true));
                        })
                        .toList();
            }
        }

        @Override
        boolean isSame(JsonNode one, JsonNode other, JsonNode description, double near) {
            return one.at("/0/token").equals(other.at("/0/token"));
        }
    }

    private static final class PictureClasses extends Classes {

        private static final int PICTURES = 40;

        PictureClasses() {
            super("image-classification", "ForImageClassification");
        }

        @Override
        boolean readsTokens() {
            return false;
        }

        @Override
        void describe(HubModel model) {
            model.outputs("logits", "logits");
            model.pictures();
            labels(model, false);
        }

        @Override
        List<ObjectNode> requests(List<Passage> passages, HubModel model) {
            return IntStream.range(0, PICTURES)
                    .mapToObj(seed -> request(TrialPicture.of(seed), Map.of("top_k", ALL_LABELS)))
                    .toList();
        }
    }

    private static final class Sentences extends HubTask {

        /// How far the cosine of two vectors that are the same may be from 1.
        private static final double SAME_VECTOR = 0.02;

        Sentences() {
            super("sentence-embeddings", "Model");
        }

        /// A model without a head that has a tokenizer, or one with the modules of sentence-transformers.
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

        /// By the cosine of the vectors.
        @Override
        double difference(JsonNode one, JsonNode other) {
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
            return 1 - product / Math.max(Math.sqrt(squares * others), Double.MIN_NORMAL);
        }

        @Override
        boolean isSame(JsonNode one, JsonNode other, JsonNode description, double near) {
            return difference(one, other) <= SAME_VECTOR;
        }
    }
}
