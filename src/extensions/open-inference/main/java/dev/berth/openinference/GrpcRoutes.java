package dev.berth.openinference;

import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import dev.berth.config.ServerConfig;
import dev.berth.error.ServingException;
import dev.berth.http.ErrorForm;
import dev.berth.http.Listener;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.openinference.Inference.ModelConfigRequest;
import dev.berth.openinference.Inference.ModelStatisticsRequest;
import dev.berth.openinference.Inference.RepositoryIndexRequest;
import dev.berth.openinference.Inference.RepositoryModelLoadRequest;
import dev.berth.openinference.Inference.RepositoryModelUnloadRequest;
import dev.berth.openinference.Triton.Asked;
import io.javalin.http.Context;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;

/// gRPC, at a port of its own: the Open Inference Protocol with Triton's extensions, health and
/// reflection.
public final class GrpcRoutes implements Protocol {

    private static final String SERVICE = "/inference.GRPCInferenceService/";

    /// A call's failure is in its trailers.
    private static final ErrorForm TRAILERS = new ErrorForm(Grpc.TYPE.toString(), (_, _, _) -> "") {
        @Override
        protected ServingException noSuchPath(Context ctx, ServingException notFound) {
            return Grpc.noSuchMethod(ctx);
        }

        @Override
        protected void answer(Context ctx, ServingException e) {
            Grpc.fail(ctx, e);
        }
    };

    @Override
    public List<Route> routes() {
        return List.of(
                Route.post(SERVICE + "ServerLive", parts -> new OpenInference(parts)::serverLive),
                Route.post(SERVICE + "ServerReady", parts -> new OpenInference(parts)::serverReady),
                Route.post(SERVICE + "ServerMetadata", parts -> new OpenInference(parts)::serverMetadata),
                Route.post(SERVICE + "ModelReady", parts -> new OpenInference(parts)::isModelReady),
                Route.post(SERVICE + "ModelMetadata", parts -> new OpenInference(parts)::describeByGrpc),
                Route.post(SERVICE + "ModelInfer", parts -> new OpenInference(parts)::inferByGrpc),
                Route.post(SERVICE + "ModelStreamInfer", parts -> new OpenInference(parts)::inferInStream),
                Route.post(GrpcHealth.CHECK, parts -> new GrpcHealth(parts)::check)
                        .forHealth(),
                Route.post(GrpcHealth.WATCH, parts -> new GrpcHealth(parts)::watch),
                Route.post(GrpcReflection.PATH, parts -> new GrpcReflection(parts)::answerAll),
                Route.post(GrpcReflection.PATH_BEFORE, parts -> new GrpcReflection(parts)::answerAll),
                triton("ModelConfig", ModelConfigRequest.parser(), Triton::config),
                triton("ModelStatistics", ModelStatisticsRequest.parser(), Triton::statistics),
                triton("RepositoryIndex", RepositoryIndexRequest.parser(), Triton::index),
                triton("RepositoryModelLoad", RepositoryModelLoadRequest.parser(), Triton::load)
                        .noPageOfOthers(),
                triton("RepositoryModelUnload", RepositoryModelUnloadRequest.parser(), Triton::unload)
                        .noPageOfOthers());
    }

    private static Route triton(String method, Parser<?> request, BiFunction<Triton, Asked, Message> answer) {
        return Route.post(SERVICE + method, parts -> new Triton(parts).grpc(request, answer));
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return listener(config).isPresent();
    }

    @Override
    public Optional<Listener> listener(ServerConfig config) {
        return config.of(GrpcConfig.class).port().stream()
                .mapToObj(port -> new Listener(port, "HTTP/2", Http2::connector))
                .findFirst();
    }

    @Override
    public Optional<ErrorForm> errors(Context request, ServerConfig config) {
        return Grpc.isCall(request) ? Optional.of(TRAILERS) : Optional.empty();
    }
}
