package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.berth.config.ModelConfig;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Signature;
import dev.berth.http.NamedModels;
import dev.berth.http.ServerParts;
import dev.berth.json.JsonText;
import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.many.ManyModels;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import io.micrometer.core.instrument.Timer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.IntStream;

/// What the Open Inference Protocol and Triton's extensions of it ask without inference, over HTTP
/// and gRPC: JSON, or the message that has its fields. Runs on the request's virtual thread.
///
/// @param deadline of the request
record Queries(ServerParts parts, Deadline deadline) {

    private static final String PLATFORM = "berth";

    private static final List<String> EXTENSIONS =
            List.of("binary_tensor_data", "model_configuration", "model_repository", "statistics");

    private static final int MAX_BODY_BYTES = 64 << 10;

    /// A flag of clients for ensembles, which Berth does not have.
    private static final String DEPENDENTS = "unload_dependents";

    private record Server(String name, String version, List<String> extensions) {}

    private record ModelReady(String name, boolean ready) {}

    private record Tensor(String name, Datatype datatype, int[] shape) {}

    private record Model(
            String name, List<String> versions, String platform, List<Tensor> inputs, List<Tensor> outputs) {}

    private record Spent(long count, long ns) {}

    private record Indexed(String name, String version, String state, String reason) {}

    /// What HTTP asks has the parameters of the path, and little else.
    static Function<ServerParts, Handler> http(BiFunction<Queries, JsonNode, Object> answer) {
        return parts -> ctx -> parts.invocations().take(ctx, MAX_BODY_BYTES, body -> {
            // What has no body must not wait for memory.
            boolean isPost = ctx.method().equals(HandlerType.POST);
            var sent = isPost ? new String(body.readAllBytes(), StandardCharsets.UTF_8) : "";
            var fields = Fields.any(Json.parse(sent.isEmpty() ? "{}" : sent, "body"), "body");
            ObjectNode asked = JsonNodeFactory.instance
                    .objectNode()
                    .put("ready", fields.bool("ready", false))
                    .set("parameters", fields.object("parameters"));
            ctx.pathParamMap().forEach(asked::put);
            ctx.contentType(MediaType.JSON.toString())
                    .result(JsonText.write(answer.apply(new Queries(parts, body.deadline()), asked)));
        });
    }

    Object server(JsonNode asked) {
        return new Server(PLATFORM, ServingMetrics.version(), EXTENSIONS);
    }

    Object live(JsonNode asked) {
        return Map.of("live", true);
    }

    Object isReady(JsonNode asked) {
        return Map.of("ready", parts.health().problem().isEmpty());
    }

    Object ready(JsonNode asked) {
        parts.health().problem().ifPresent(problem -> {
            throw ErrorType.NOT_READY.because(problem);
        });
        return isReady(asked);
    }

    /// A model that is not there is not ready either.
    Object isModelReady(JsonNode asked) {
        try {
            return Map.of("ready", parts.models().problem(target(asked)).isEmpty());
        } catch (ServingException e) {
            if (e.type() == ErrorType.NOT_FOUND) {
                return Map.of("ready", false);
            }
            throw e;
        }
    }

    Object modelReady(JsonNode asked) {
        var model = target(asked);
        parts.models().requireReady(model);
        return new ModelReady(model, true);
    }

    private String target(JsonNode asked) {
        return parts.models().target(name(asked), version(asked));
    }

    /// Empty: all, or the only one.
    private static String name(JsonNode asked) {
        return asked.path("name").asText(asked.path("model_name").asText());
    }

    private static String version(JsonNode asked) {
        return asked.path("version").asText();
    }

    /// What clients are told about a model. Shapes begin with -1: as many records as the client likes.
    Object model(JsonNode asked) {
        return ofSignature(
                target(asked),
                (name, signature) -> new Model(
                        name,
                        List.of(NamedModels.VERSION),
                        PLATFORM,
                        tensors(signature.inputs()),
                        tensors(signature.outputs())));
    }

    private static List<Tensor> tensors(List<Signature.Column> columns) {
        return columns.stream()
                .map(column -> new Tensor(
                        column.name(),
                        Datatype.of(column.type()),
                        IntStream.concat(
                                        IntStream.of(-1),
                                        column.shape().stream().mapToInt(Integer::intValue))
                                .toArray()))
                .toList();
    }

    /// Triton's configuration, of which the dimensions are without the records. A request may have
    /// any number of those.
    Object config(JsonNode asked) {
        return ofSignature(target(asked), (name, signature) -> {
            var config = JsonNodeFactory.instance
                    .objectNode()
                    .put("name", name)
                    .put("platform", PLATFORM)
                    .put("max_batch_size", Integer.MAX_VALUE);
            describe(config, "input", signature.inputs());
            describe(config, "output", signature.outputs());
            config.putObject("dynamic_batching");
            return config.put("backend", PLATFORM);
        });
    }

    private static void describe(ObjectNode config, String field, List<Signature.Column> columns) {
        var list = config.putArray(field);
        for (var column : columns) {
            var type = Datatype.of(column.type());
            var described = list.addObject()
                    .put("name", column.name())
                    .put("data_type", "TYPE_" + (type == Datatype.BYTES ? "STRING" : type.name()));
            column.shape().forEach(described.putArray("dims")::add);
        }
    }

    private Object ofSignature(String model, BiFunction<String, Signature, Object> answer) {
        try (var visit = parts.models().enter(model, deadline)) {
            return answer.apply(model, visit.signature(deadline));
        }
    }

    Object statistics(JsonNode asked) {
        var names = name(asked).isEmpty()
                ? parts.models().list().stream().map(ManyModels.Entry::name).toList()
                : List.of(name(asked));
        return Map.of(
                "model_stats",
                names.stream()
                        .map(name -> statistics(parts.models().target(name, version(asked))))
                        .toList());
    }

    private ObjectNode statistics(String model) {
        // Of one that is not there, it throws.
        var _ = parts.models().problem(model);
        var statistics = JsonNodeFactory.instance
                .objectNode()
                .put("name", model)
                .put("version", NamedModels.VERSION)
                .put("last_inference", 0)
                .put("inference_count", 0)
                .put("execution_count", 0);
        parts.metrics().find(parts.models().inMetrics(model)).ifPresent(metrics -> add(statistics, metrics));
        return statistics;
    }

    private static void add(ObjectNode statistics, ModelMetrics model) {
        statistics
                .put("last_inference", model.lastPredicted())
                .put("inference_count", (long) model.records.count())
                .put("execution_count", model.predict.count())
                .putObject("inference_stats")
                .putPOJO("success", spent(model.requestTime))
                .putPOJO("fail", spent(model.failureTime))
                .putPOJO("queue", spent(model.queueWait))
                .putPOJO("compute_input", spent(model.decode))
                .putPOJO("compute_infer", spent(model.predict))
                .putPOJO("compute_output", spent(model.encode));
    }

    private static Spent spent(Timer timer) {
        return new Spent(timer.count(), (long) timer.totalTime(TimeUnit.NANOSECONDS));
    }

    Object index(JsonNode asked) {
        return parts.models().list().stream()
                .map(Queries::indexed)
                .filter(model -> !asked.path("ready").asBoolean() || model.state.equals("READY"))
                .toList();
    }

    private static Indexed indexed(ManyModels.Entry model) {
        var status = model.status().orElseGet(() -> model.problem().isEmpty() ? "loaded" : "failed");
        var state = switch (status) {
            case "loaded" -> "READY";
            case "loading" -> "LOADING";
            default -> "UNAVAILABLE";
        };
        var reason = model.problem().orElse(status.equals("not loaded") ? status : "");
        return new Indexed(model.name(), NamedModels.VERSION, state, reason);
    }

    /// Waits until the model is loaded, as the first request for it does. The artifact says how it is
    /// served.
    Object load(JsonNode asked) {
        var _ = Fields.of(asked.path("parameters"), "parameters", List.of());
        var loaded = Deadline.in(parts.config().get(ModelConfig.LOAD_TIMEOUT), System::nanoTime);
        parts.models().load(target(asked), loaded);
        return Map.of();
    }

    Object unload(JsonNode asked) {
        var _ = Fields.of(asked.path("parameters"), "parameters", List.of(DEPENDENTS));
        parts.models().unload(target(asked));
        return Map.of();
    }
}
