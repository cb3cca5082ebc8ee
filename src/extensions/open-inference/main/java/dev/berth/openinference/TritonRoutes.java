package dev.berth.openinference;

import com.google.protobuf.Message;
import dev.berth.config.ServerConfig;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.openinference.Triton.Asked;
import io.javalin.http.HandlerType;
import java.util.List;
import java.util.function.BiFunction;

/// Triton's extensions over HTTP. SageMaker's containers have none of them.
public final class TritonRoutes implements Protocol {

    private static final String REPOSITORY = V2Routes.ROOT + "/repository/models/{name}";
    private static final String CONFIG = "The configuration of a model";
    private static final String STATISTICS = "Statistics of a model";

    @Override
    public List<Route> routes() {
        return List.of(
                get(V2Routes.ROOT + "/models/stats", "Statistics of all models", Triton::allStatistics),
                get(V2Routes.MODEL + "/config", CONFIG, Triton::config),
                get(V2Routes.VERSION + "/config", CONFIG, Triton::config),
                get(V2Routes.MODEL + "/stats", STATISTICS, Triton::statistics),
                get(V2Routes.VERSION + "/stats", STATISTICS, Triton::statistics),
                post(V2Routes.ROOT + "/repository/index", "List the models", Triton::index),
                post(REPOSITORY + "/load", "Load a model of --models", Triton::load)
                        .noPageOfOthers(),
                post(REPOSITORY + "/unload", "Unload a model of --models", Triton::unload)
                        .noPageOfOthers());
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return !config.platform().isSageMaker();
    }

    private static Route get(String path, String says, BiFunction<Triton, Asked, Message> answer) {
        return at(HandlerType.GET, path, says, answer);
    }

    private static Route post(String path, String says, BiFunction<Triton, Asked, Message> answer) {
        return at(HandlerType.POST, path, says, answer);
    }

    private static Route at(HandlerType method, String path, String says, BiFunction<Triton, Asked, Message> answer) {
        return Route.at(method, path, o -> o.protocol(says, "{}"), parts -> new Triton(parts).http(answer));
    }
}
