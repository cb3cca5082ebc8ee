package dev.berth.desk;

import dev.berth.config.ServerConfig;
import dev.berth.config.ServingConfig;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import io.javalin.config.JavalinConfig;
import java.util.List;

/// What a platform has in front of a container, for a server at a desk.
public final class Desk implements Protocol {

    @Override
    public List<Route> routes() {
        return List.of();
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return config.get(DeskConfig.RUNTIME_API);
    }

    @Override
    public void configure(JavalinConfig javalin, ServerParts parts) {
        var config = parts.config();
        var async = AsyncInvocations.of(config);
        javalin.jetty.modifyServer(server -> {
            async.ifPresent(server::addBean);
            server.getTail()
                    .setHandler(new RuntimeApi(parts.models().hasMany(), config.get(ServingConfig.TIMEOUT), async));
        });
    }
}
