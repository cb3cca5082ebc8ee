package dev.berth.openinference;

import com.google.protobuf.Message;
import dev.berth.config.ServerConfig;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.openinference.Triton.Asked;
import java.util.List;
import java.util.function.BiFunction;

/// Triton's extensions over HTTP. SageMaker's containers have none of them.
public final class TritonRoutes implements Protocol {

    private static final String REPOSITORY = V2Routes.ROOT + "/repository/models/{name}";
    private static final String CONFIG = V2Routes.MODEL + "/config";
    private static final String STATISTICS = V2Routes.MODEL + "/stats";

    @Override
    public List<Route> routes() {
        return List.of(
                get(V2Routes.ROOT + "/models/stats", Triton::allStatistics),
                get(CONFIG, Triton::config),
                get(V2Routes.VERSION + "/config", Triton::config).as(CONFIG),
                get(STATISTICS, Triton::statistics),
                get(V2Routes.VERSION + "/stats", Triton::statistics).as(STATISTICS),
                post(V2Routes.ROOT + "/repository/index", Triton::index),
                post(REPOSITORY + "/load", Triton::load).noPageOfOthers(),
                post(REPOSITORY + "/unload", Triton::unload).noPageOfOthers());
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return !config.platform().isSageMaker();
    }

    private static Route get(String path, BiFunction<Triton, Asked, Message> answer) {
        return Route.get(path, parts -> new Triton(parts).http(answer));
    }

    private static Route post(String path, BiFunction<Triton, Asked, Message> answer) {
        return Route.post(path, parts -> new Triton(parts).http(answer));
    }
}
