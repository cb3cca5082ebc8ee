package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Message;
import dev.berth.config.PlatformConfig;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.Signature;
import dev.berth.http.CallerText;
import dev.berth.http.NamedModels;
import dev.berth.http.ServerParts;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.metrics.ModelMetrics;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.many.ManyModels;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.function.Function;

/// What the Open Inference Protocol and Triton's extensions of it ask without inference, over HTTP
/// and gRPC: what is answered is a message of gRPC, or JSON with its fields. Runs on the request's
/// virtual thread.
record Queries(ServerParts parts) {

    /// The first one alone where there are none of Triton's. It has no routes of its own.
    private static final List<String> EXTENSIONS =
            List.of("binary_tensor_data", "model_configuration", "model_repository", "statistics");

    private static final int MAX_BODY_BYTES = 64 << 10;

    /// A model of this name has the path of the statistics of all.
    private static final String STATS = "stats";

    /// A flag of clients for ensembles, which Berth does not have.
    private static final String DEPENDENTS = "unload_dependents";

    static Function<ServerParts, Handler> grpc(Descriptor request, BiFunction<Queries, Asked, Message> answer) {
        return parts -> ctx -> Grpc.call(
                ctx, parts.invocations(), message -> answer.apply(new Queries(parts), Asked.of(request, message)));
    }

    static Function<ServerParts, Handler> http(BiFunction<Queries, Asked, Message> answer) {
        return parts -> ctx -> parts.invocations().take(ctx, MAX_BODY_BYTES, body -> {
            // What has no body must not wait for memory.
            boolean isPost = ctx.method().equals(HandlerType.POST);
            var asked = Asked.of(ctx.pathParamMap(), fields(isPost ? body.readAllBytes() : new byte[0]));
            // What gRPC has a message around.
            OpenInference.json(
                    ctx,
                    switch (answer.apply(new Queries(parts), asked)) {
                        case Inference.RepositoryIndexResponse index ->
                            index.getModelsList().stream()
                                    .map(GrpcMessages::json)
                                    .toList();
                        case Inference.ModelConfigResponse of -> GrpcMessages.json(of.getConfig());
                        case Message message -> GrpcMessages.json(message);
                    });
        });
    }

    private static JsonNode fields(byte[] body) {
        try {
            var fields = body.length == 0 ? JsonNodeFactory.instance.objectNode() : JsonText.read(body);
            if (fields.isObject()) {
                return fields;
            }
        } catch (NotJsonException e) {
            throw ErrorType.BAD_INPUT.because("body: " + e.getMessage(), e);
        }
        throw ErrorType.BAD_INPUT.because("body: found no object, expected {} or nothing");
    }

    Message server(Asked asked) {
        boolean isSageMaker = parts.config().of(PlatformConfig.class).isSageMaker();
        return Inference.ServerMetadataResponse.newBuilder()
                .setName(GrpcMessages.PLATFORM)
                .setVersion(ServingMetrics.version())
                .addAllExtensions(isSageMaker ? EXTENSIONS.subList(0, 1) : EXTENSIONS)
                .build();
    }

    Message isLive(Asked asked) {
        return GrpcMessages.yesOrNo(true);
    }

    Message isReady(Asked asked) {
        return GrpcMessages.yesOrNo(parts.health().problem().isEmpty());
    }

    /// A model that is not there is not ready either.
    Message isModelReady(Asked asked) {
        try {
            return GrpcMessages.yesOrNo(parts.models().problem(target(asked)).isEmpty());
        } catch (ServingException e) {
            if (e.type() == ErrorType.NOT_FOUND) {
                return GrpcMessages.yesOrNo(false);
            }
            throw e;
        }
    }

    private String target(Asked asked) {
        return parts.models().target(asked.model(), asked.version());
    }

    Message config(Asked asked) {
        return ofSignature(asked, GrpcMessages::config);
    }

    private Message ofSignature(Asked asked, BiFunction<String, Signature, Message> answer) {
        var target = target(asked);
        var deadline = in(parts.config().batching().timeout());
        try (var visit = parts.models().enter(target, deadline)) {
            return answer.apply(target, visit.signature(deadline));
        }
    }

    private static Deadline in(Duration time) {
        return Deadline.in(time, System::nanoTime);
    }

    Message allStatistics(Asked asked) {
        return parts.models().list().stream().anyMatch(model -> model.name().equals(STATS))
                ? ofSignature(new Asked(STATS, ""), GrpcMessages::model)
                : statistics(asked);
    }

    Message statistics(Asked asked) {
        var all = Inference.ModelStatisticsResponse.newBuilder();
        var names = asked.model().isEmpty()
                ? parts.models().list().stream().map(ManyModels.Entry::name).toList()
                : List.of(asked.model());
        for (var name : names) {
            var model = parts.models().target(name, asked.version());
            // Of one that is not there, it throws.
            var _ = parts.models().problem(model);
            var statistics = all.addModelStatsBuilder().setName(model).setVersion(NamedModels.VERSION);
            parts.metrics().find(parts.models().inMetrics(model)).ifPresent(metrics -> add(statistics, metrics));
        }
        return all.build();
    }

    private static void add(Inference.ModelStatistics.Builder statistics, ModelMetrics model) {
        long failures = model.failures.sum();
        long failureNanos = model.failureNanos.sum();
        var requests = spent(model.requestTime);
        statistics
                .setLastInference(model.lastPredicted())
                .setInferenceCount((long) model.records.count())
                .setExecutionCount(model.predict.count())
                .setInferenceStats(Inference.InferStatistics.newBuilder()
                        // What ends meanwhile may be counted in one of the two.
                        .setSuccess(spent(
                                Math.max(0, requests.getCount() - failures),
                                Math.max(0, requests.getNs() - failureNanos)))
                        .setFail(spent(failures, failureNanos))
                        .setQueue(spent(model.queueWait))
                        .setComputeInput(spent(model.decode))
                        .setComputeInfer(spent(model.predict))
                        .setComputeOutput(spent(model.encode)));
    }

    private static Inference.StatisticDuration spent(Timer timer) {
        return spent(timer.count(), (long) timer.totalTime(TimeUnit.NANOSECONDS));
    }

    private static Inference.StatisticDuration spent(long count, long nanos) {
        return Inference.StatisticDuration.newBuilder()
                .setCount(count)
                .setNs(nanos)
                .build();
    }

    Message index(Asked asked) {
        var index = Inference.RepositoryIndexResponse.newBuilder();
        for (var model : parts.models().list()) {
            var status = model.status().orElseGet(() -> model.problem().isEmpty() ? "loaded" : "failed");
            var state = switch (status) {
                case "loaded" -> "READY";
                case "loading" -> "LOADING";
                default -> "UNAVAILABLE";
            };
            if (!asked.readyOnly() || state.equals("READY")) {
                index.addModelsBuilder()
                        .setName(model.name())
                        .setVersion(NamedModels.VERSION)
                        .setState(state)
                        .setReason(model.problem().orElse(status.equals("not loaded") ? status : ""));
            }
        }
        return index.build();
    }

    /// Waits until the model is loaded, as the first request for it does.
    Message load(Asked asked) {
        requireKnown(asked, Set.of());
        parts.models().load(target(asked), in(parts.config().multiModel().loadTimeout()));
        return Inference.RepositoryModelLoadResponse.getDefaultInstance();
    }

    Message unload(Asked asked) {
        requireKnown(asked, Set.of(DEPENDENTS));
        parts.models().unload(target(asked));
        return Inference.RepositoryModelUnloadResponse.getDefaultInstance();
    }

    /// The artifact says how its model is served.
    private static void requireKnown(Asked asked, Set<String> known) {
        for (var name : asked.parameters()) {
            if (!known.contains(name)) {
                var expected = known.isEmpty() ? "none" : "none but " + String.join(", ", known);
                throw ErrorType.BAD_INPUT.found("parameters", CallerText.quoted(name), expected);
            }
        }
    }
}
