package dev.berth.openinference;

import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.google.protobuf.Message;
import dev.berth.config.ServerConfig;
import dev.berth.error.ServingException;
import dev.berth.http.ErrorForm;
import dev.berth.http.Listener;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.util.List;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;

/// gRPC, at a port of its own: the Open Inference Protocol with Triton's extensions, health and
/// reflection.
public final class GrpcRoutes implements Protocol {

    private static final ServiceDescriptor SERVICE =
            Inference.getDescriptor().findServiceByName("GRPCInferenceService");

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
                query("ServerLive", Queries::isLive),
                query("ServerReady", Queries::isReady),
                query("ServerMetadata", Queries::server),
                query("ModelReady", Queries::isModelReady),
                call("ModelMetadata", parts -> new OpenInference(parts)::describeByGrpc),
                call("ModelInfer", parts -> new OpenInference(parts)::inferByGrpc),
                call("ModelStreamInfer", parts -> new OpenInference(parts)::inferInStream),
                query("ModelConfig", Queries::config),
                query("ModelStatistics", Queries::statistics),
                query("RepositoryIndex", Queries::index),
                query("RepositoryModelLoad", Queries::load).noPageOfOthers(),
                query("RepositoryModelUnload", Queries::unload).noPageOfOthers(),
                Route.post(GrpcHealth.CHECK, parts -> new GrpcHealth(parts)::check)
                        .forHealth(),
                Route.post(GrpcHealth.WATCH, parts -> new GrpcHealth(parts)::watch),
                Route.post(GrpcReflection.PATH, parts -> new GrpcReflection(parts)::answerAll),
                Route.post(GrpcReflection.PATH_BEFORE, parts -> new GrpcReflection(parts)::answerAll));
    }

    private static Route query(String method, BiFunction<Queries, Asked, Message> answer) {
        return call(method, Queries.grpc(SERVICE.findMethodByName(method).getInputType(), answer));
    }

    private static Route call(String method, Function<ServerParts, Handler> handler) {
        return Route.post("/%s/%s".formatted(SERVICE.getFullName(), method), handler);
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
