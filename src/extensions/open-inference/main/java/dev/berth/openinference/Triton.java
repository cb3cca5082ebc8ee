package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import dev.berth.error.ErrorType;
import dev.berth.hooks.Signature;
import dev.berth.http.CallerText;
import dev.berth.http.NamedModels;
import dev.berth.http.ServerParts;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.metrics.ModelMetrics;
import dev.berth.openinference.Inference.InferStatistics;
import dev.berth.openinference.Inference.ModelConfigRequest;
import dev.berth.openinference.Inference.ModelConfigResponse;
import dev.berth.openinference.Inference.ModelStatistics;
import dev.berth.openinference.Inference.ModelStatisticsRequest;
import dev.berth.openinference.Inference.ModelStatisticsResponse;
import dev.berth.openinference.Inference.RepositoryIndexRequest;
import dev.berth.openinference.Inference.RepositoryIndexResponse;
import dev.berth.openinference.Inference.RepositoryModelLoadRequest;
import dev.berth.openinference.Inference.RepositoryModelLoadResponse;
import dev.berth.openinference.Inference.RepositoryModelUnloadRequest;
import dev.berth.openinference.Inference.RepositoryModelUnloadResponse;
import dev.berth.openinference.Inference.StatisticDuration;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.many.ManyModels;
import io.javalin.http.Handler;
import io.micrometer.core.instrument.Timer;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.BiFunction;
import java.util.stream.Collectors;

/// Triton's extensions of the Open Inference Protocol, each over HTTP and gRPC: what is answered is
/// a message of gRPC, or JSON with its fields. Runs on the request's virtual thread.
record Triton(ServerParts parts) {

    private static final int MAX_BODY_BYTES = 64 << 10;

    /// A model of this name has the path of the statistics of all.
    private static final String STATS = "stats";

    /// A flag of clients for ensembles, which Berth does not have.
    private static final String DEPENDENTS = "unload_dependents";

    /// What is asked.
    ///
    /// @param model empty: all, or the only one
    /// @param version empty: any
    /// @param parameters their names
    record Asked(String model, String version, boolean readyOnly, Set<String> parameters) {
        private Asked(String model, String version) {
            this(model, version, false, Set.of());
        }

        private static Asked of(Object message) {
            return switch (message) {
                case ModelConfigRequest of -> new Asked(of.getName(), of.getVersion());
                case ModelStatisticsRequest of -> new Asked(of.getName(), of.getVersion());
                case RepositoryIndexRequest of -> new Asked("", "", of.getReady(), Set.of());
                case RepositoryModelLoadRequest of ->
                    new Asked(
                            of.getModelName(), "", false, of.getParametersMap().keySet());
                case RepositoryModelUnloadRequest of ->
                    new Asked(
                            of.getModelName(), "", false, of.getParametersMap().keySet());
                default -> throw new IllegalArgumentException(message.getClass().getName());
            };
        }

        private static Asked of(Map<String, String> path, JsonNode body) {
            return new Asked(
                    path.getOrDefault("name", ""),
                    path.getOrDefault("version", ""),
                    body.path("ready").asBoolean(),
                    body.path("parameters")
                            .propertyStream()
                            .map(Map.Entry::getKey)
                            .collect(Collectors.toUnmodifiableSet()));
        }
    }

    Handler grpc(Parser<?> request, BiFunction<Triton, Asked, Message> answer) {
        return ctx -> Grpc.call(ctx, parts.invocations(), message -> {
            try {
                return answer.apply(this, Asked.of(request.parseFrom(message)));
            } catch (InvalidProtocolBufferException e) {
                throw ErrorType.BAD_INPUT.because("message: not the one of this method", e);
            }
        });
    }

    Handler http(BiFunction<Triton, Asked, Message> answer) {
        return ctx -> parts.invocations().take(ctx, MAX_BODY_BYTES, body -> {
            body.checkDeclared();
            var asked = Asked.of(ctx.pathParamMap(), fields(body.readAllBytes()));
            var message = answer.apply(this, asked);
            // What gRPC has a message around.
            OpenInference.json(
                    ctx,
                    switch (message) {
                        case RepositoryIndexResponse index ->
                            index.getModelsList().stream()
                                    .map(GrpcMessages::json)
                                    .toList();
                        case ModelConfigResponse of -> GrpcMessages.json(of.getConfig());
                        default -> GrpcMessages.json(message);
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

    Message config(Asked asked) {
        return ofSignature(asked, GrpcMessages::config);
    }

    private Message ofSignature(Asked asked, BiFunction<String, Signature, Message> answer) {
        var target = parts.models().target(asked.model, asked.version);
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
        var all = ModelStatisticsResponse.newBuilder();
        var names = asked.model.isEmpty()
                ? parts.models().list().stream().map(ManyModels.Entry::name).toList()
                : List.of(asked.model);
        for (var name : names) {
            var model = parts.models().target(name, asked.version);
            // Of one that is not there, it throws.
            var _ = parts.models().problem(model);
            var statistics = all.addModelStatsBuilder().setName(model).setVersion(NamedModels.VERSION);
            parts.metrics().find(parts.models().inMetrics(model)).ifPresent(metrics -> add(statistics, metrics));
        }
        return all.build();
    }

    private static void add(ModelStatistics.Builder statistics, ModelMetrics model) {
        long failures = model.failures.sum();
        long failureNanos = model.failureNanos.sum();
        var requests = spent(model.requestTime);
        statistics
                .setLastInference(model.lastPredicted())
                .setInferenceCount((long) model.records.count())
                .setExecutionCount(model.predict.count())
                .setInferenceStats(InferStatistics.newBuilder()
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

    private static StatisticDuration spent(Timer timer) {
        return spent(timer.count(), (long) timer.totalTime(TimeUnit.NANOSECONDS));
    }

    private static StatisticDuration spent(long count, long nanos) {
        return StatisticDuration.newBuilder().setCount(count).setNs(nanos).build();
    }

    Message index(Asked asked) {
        var index = RepositoryIndexResponse.newBuilder();
        for (var model : parts.models().list()) {
            var status = model.status().orElseGet(() -> model.problem().isEmpty() ? "loaded" : "failed");
            var state = switch (status) {
                case "loaded" -> "READY";
                case "loading" -> "LOADING";
                default -> "UNAVAILABLE";
            };
            if (!asked.readyOnly || state.equals("READY")) {
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
        var model = parts.models().target(asked.model, "");
        parts.models().load(model, in(parts.config().multiModel().loadTimeout()));
        return RepositoryModelLoadResponse.getDefaultInstance();
    }

    Message unload(Asked asked) {
        requireKnown(asked, Set.of(DEPENDENTS));
        parts.models().unload(parts.models().target(asked.model, ""));
        return RepositoryModelUnloadResponse.getDefaultInstance();
    }

    /// The artifact says how its model is served.
    private static void requireKnown(Asked asked, Set<String> known) {
        asked.parameters.stream()
                .filter(name -> !known.contains(name))
                .findFirst()
                .ifPresent(name -> {
                    throw ErrorType.BAD_INPUT.because("parameters: found %s, expected %s"
                            .formatted(
                                    CallerText.quoted(name),
                                    known.isEmpty() ? "none" : "none but " + String.join(", ", known)));
                });
    }
}
