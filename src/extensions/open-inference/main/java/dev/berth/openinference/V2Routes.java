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

/// The Open Inference Protocol over HTTP, with Triton's extensions.
public final class V2Routes implements Protocol {

    private static final String ROOT = "/v2";
    private static final String MODEL = ROOT + "/models/{name}";
    private static final String REPOSITORY = ROOT + "/repository/models/{name}";

    @Override
    public List<Route> routes() {
        return Stream.concat(
                        Stream.of(
                                get(ROOT, http(Queries::server)),
                                get(ROOT + "/health/live", http(Queries::live)).forHealth(),
                                get(ROOT + "/health/ready", http(Queries::ready))
                                        .forHealth(),
                                // In front of a model of this name.
                                get(ROOT + "/models/stats", http(Queries::statistics)),
                                post(ROOT + "/repository/index", http(Queries::index)),
                                post(REPOSITORY + "/load", http(Queries::load)).noPageOfOthers(),
                                post(REPOSITORY + "/unload", http(Queries::unload))
                                        .noPageOfOthers()),
                        Stream.of(MODEL, MODEL + "/versions/{version}").flatMap(V2Routes::ofModel))
                .toList();
    }

    private static Stream<Route> ofModel(String path) {
        return Stream.of(
                get(path, http(Queries::model)).as(MODEL),
                get(path + "/ready", http(Queries::modelReady)).as(MODEL + "/ready"),
                get(path + "/config", http(Queries::config)).as(MODEL + "/config"),
                get(path + "/stats", http(Queries::statistics)).as(MODEL + "/stats"),
                post(path + "/infer", parts -> new OpenInference(parts)::infer).as(MODEL + "/infer"));
    }

    @Override
    public Optional<ErrorForm> errors(String path, ServerConfig config) {
        return path.equals(ROOT) || path.startsWith(ROOT + "/") ? Optional.of(ErrorForm.TEXT) : Optional.empty();
    }
}
