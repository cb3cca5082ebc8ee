package dev.berth.dialects;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.http.ErrorForm;
import dev.berth.http.Invocations;
import dev.berth.http.NamedModels;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import io.javalin.http.Handler;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// What clients of TorchServe's inference API meet at its paths. Requests go the way of `POST
/// /invocations`; only names differ.
///
/// Source: TorchServe 0.12, `docs/inference_api.md` and the classes of `org.pytorch.serve.http`.
public final class TorchServe implements Protocol {

    private static final String PREDICTIONS = "/predictions/";
    private static final String NAME = "{name}";
    private static final String VERSION = "/{version}";

    /// That of a model that nobody gave another.
    private static final String FIRST_VERSION = "1.0";

    private static final ErrorForm ERRORS = ErrorForm.named(TorchServe::name);

    /// `curl -T` sends a PUT.
    @Override
    public List<Route> routes() {
        return Stream.of(PREDICTIONS + NAME, PREDICTIONS + NAME + VERSION)
                .flatMap(path -> Stream.of(HandlerType.POST, HandlerType.PUT)
                        .map(method -> Route.at(method, path, TorchServe::ask)))
                .toList();
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return config.get(DialectsConfig.TORCH_SERVE);
    }

    @Override
    public Optional<ErrorForm> errors(String path, ServerConfig config) {
        return path.startsWith(PREDICTIONS) ? Optional.of(ERRORS) : Optional.empty();
    }

    private static Handler ask(ServerParts parts) {
        var invocations = parts.invocations();
        return ctx -> {
            var path = ctx.pathParamMap();
            var version = path.getOrDefault("version", "");
            invocations.ask(
                    ctx,
                    () -> parts.models()
                            .target(path.get("name"), version.equals(FIRST_VERSION) ? NamedModels.VERSION : version),
                    Invocations.Asked::answer);
        };
    }

    /// The exception that TorchServe would name.
    private static String name(ErrorType type) {
        return switch (type) {
            case BAD_INPUT, FORBIDDEN, NOT_ACCEPTABLE, UNSUPPORTED_MEDIA_TYPE, UPGRADE_REQUIRED, CALLER_GONE ->
                "BadRequestException";
            case NOT_FOUND -> "ModelNotFoundException";
            case METHOD_NOT_ALLOWED -> "MethodNotAllowedException";
            case PAYLOAD_TOO_LARGE -> "RequestEntityTooLargeException";
            case CONFLICT -> "ConflictStatusException";
            case NOT_READY, OVERLOADED, TOO_MANY_CONNECTIONS, TOO_MANY_SESSIONS, TOO_MANY_LOADS, MEMORY_TAKEN ->
                "ServiceUnavailableException";
            case DEADLINE_EXCEEDED -> "RequestTimeoutException";
            case INTERNAL, INSUFFICIENT_MEMORY -> "InternalServerException";
        };
    }
}
