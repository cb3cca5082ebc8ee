package dev.berth.openinference;

import static dev.berth.http.Route.get;
import static dev.berth.http.Route.post;
import static dev.berth.openinference.Queries.http;

import dev.berth.config.ServerConfig;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import java.util.List;

/// Triton's extensions over HTTP. SageMaker's containers have none of them.
public final class TritonRoutes implements Protocol {

    private static final String REPOSITORY = V2Routes.ROOT + "/repository/models/{name}";
    private static final String CONFIG = V2Routes.MODEL + "/config";
    private static final String STATISTICS = V2Routes.MODEL + "/stats";

    @Override
    public List<Route> routes() {
        return List.of(
                get(V2Routes.ROOT + "/models/stats", http(Queries::statistics)),
                get(CONFIG, http(Queries::config)),
                get(V2Routes.VERSION + "/config", http(Queries::config)).as(CONFIG),
                get(STATISTICS, http(Queries::statistics)),
                get(V2Routes.VERSION + "/stats", http(Queries::statistics)).as(STATISTICS),
                post(V2Routes.ROOT + "/repository/index", http(Queries::index)),
                post(REPOSITORY + "/load", http(Queries::load)).noPageOfOthers(),
                post(REPOSITORY + "/unload", http(Queries::unload)).noPageOfOthers());
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return !config.platform().isSageMaker();
    }
}
