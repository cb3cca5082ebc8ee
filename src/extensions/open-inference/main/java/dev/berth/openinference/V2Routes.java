package dev.berth.openinference;

import static dev.berth.http.Route.get;
import static dev.berth.http.Route.post;
import static dev.berth.openinference.Queries.http;

import dev.berth.config.ServerConfig;
import dev.berth.http.ErrorForm;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The Open Inference Protocol over HTTP.
public final class V2Routes implements Protocol {

    static final String ROOT = "/v2";
    static final String MODEL = ROOT + "/models/{name}";
    static final String VERSION = MODEL + "/versions/{version}";

    @Override
    public List<Route> routes() {
        return Stream.concat(
                        Stream.of(
                                get(ROOT, http(Queries::server)),
                                get(ROOT + "/health/live", http(Queries::live)).forHealth(),
                                get(ROOT + "/health/ready", http(Queries::ready))
                                        .forHealth()),
                        Stream.of(MODEL, VERSION).flatMap(V2Routes::ofModel))
                .toList();
    }

    private static Stream<Route> ofModel(String path) {
        return Stream.of(
                get(path, http(Queries::model)).as(MODEL),
                get(path + "/ready", http(Queries::modelReady)).as(MODEL + "/ready"),
                post(path + "/infer", parts -> new OpenInference(parts)::infer).as(MODEL + "/infer"));
    }

    @Override
    public Optional<ErrorForm> errors(String path, ServerConfig config) {
        return path.equals(ROOT) || path.startsWith(ROOT + "/") ? Optional.of(ErrorForm.TEXT) : Optional.empty();
    }
}
