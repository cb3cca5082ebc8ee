package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.Descriptors.MethodDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.http.CallerText;
import dev.berth.http.ErrorForm;
import dev.berth.http.Listener;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import io.javalin.http.Context;
import io.javalin.http.Handler;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.BiFunction;
import java.util.function.Function;

/// gRPC, at a port of its own: the Open Inference Protocol with Triton's extensions, health and
/// reflection.
public final class GrpcRoutes implements Protocol {

    private static final ServiceDescriptor SERVICE =
            Inference.getDescriptor().findServiceByName("GRPCInferenceService");

    /// A call's failure is in its trailers.
    private static final ErrorForm TRAILERS = new ErrorForm(Grpc.TYPE.toString(), (_, _) -> "") {
        @Override
        protected ServingException noSuchPath(Context ctx, ServingException notFound) {
            // NOT_FOUND would be a model.
            return ErrorType.METHOD_NOT_ALLOWED.because("%s: no such method".formatted(CallerText.quoted(ctx.path())));
        }

        @Override
        protected void answer(Context ctx, ServingException e) {
            Grpc.fail(ctx, e);
        }
    };

    @Override
    public List<Route> routes() {
        return List.of(
                query("ServerLive", Queries::live),
                query("ServerReady", Queries::isReady),
                query("ServerMetadata", Queries::server),
                query("ModelReady", Queries::isModelReady),
                query("ModelMetadata", Queries::model),
                call("ModelInfer", parts -> new OpenInference(parts)::inferByGrpc),
                call("ModelStreamInfer", parts -> new OpenInference(parts)::inferInStream),
                query("ModelConfig", (queries, asked) -> Map.of("config", queries.config(asked))),
                query("ModelStatistics", Queries::statistics),
                query("RepositoryIndex", (queries, asked) -> Map.of("models", queries.index(asked))),
                query("RepositoryModelLoad", Queries::load).noPageOfOthers(),
                query("RepositoryModelUnload", Queries::unload).noPageOfOthers(),
                query(GrpcHealth.CHECK, (queries, asked) -> new GrpcHealth(queries.parts()).check(asked))
                        .forHealth(),
                at(GrpcHealth.WATCH, parts -> new GrpcHealth(parts)::watch),
                Route.post(GrpcReflection.PATH, parts -> new GrpcReflection(parts)::answerAll),
                Route.post(GrpcReflection.PATH_BEFORE, parts -> new GrpcReflection(parts)::answerAll));
    }

    private static Route query(String name, BiFunction<Queries, JsonNode, Object> answer) {
        return query(SERVICE.findMethodByName(name), answer);
    }

    private static Route query(MethodDescriptor method, BiFunction<Queries, JsonNode, Object> answer) {
        return at(method, parts -> Grpc.query(parts, method, answer));
    }

    private static Route call(String name, Function<ServerParts, Handler> handler) {
        return at(SERVICE.findMethodByName(name), handler);
    }

    private static Route at(MethodDescriptor method, Function<ServerParts, Handler> handler) {
        return Route.post("/%s/%s".formatted(method.getService().getFullName(), method.getName()), handler);
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return listener(config).isPresent();
    }

    @Override
    public Optional<Listener> listener(ServerConfig config) {
        return config.find(GrpcConfig.PORT).map(port -> new Listener(port, "HTTP/2", Http2::connector));
    }

    @Override
    public Optional<ErrorForm> errors(Context request, ServerConfig config) {
        return Grpc.isCall(request) ? Optional.of(TRAILERS) : Optional.empty();
    }
}
