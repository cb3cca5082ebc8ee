package dev.berth.desk;

import dev.berth.config.ServerConfig;
import dev.berth.config.ServingConfig;
import dev.berth.http.Front;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import java.util.List;
import java.util.Optional;

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
    public Optional<Front> front(ServerParts parts) {
        var config = parts.config();
        return Optional.of(new RuntimeApi(
                parts.models().hasMany(), config.get(ServingConfig.TIMEOUT), AsyncInvocations.of(config)));
    }
}
