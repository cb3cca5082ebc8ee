package dev.berth.desk;

import dev.berth.config.ServerConfig;
import dev.berth.http.Front;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.http.ServerParts;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import org.eclipse.jetty.server.Handler;

/// What a platform has in front of a container, for a server at a desk.
public final class Desk implements Protocol {

    @Override
    public List<Route> routes() {
        return List.of();
    }

    @Override
    public boolean isOn(ServerConfig config) {
        return config.of(DeskConfig.class).isOn();
    }

    @Override
    public Optional<Front> front(ServerParts parts) {
        var config = parts.config();
        var async = AsyncInvocations.of(config);
        var api = new RuntimeApi(parts.serving().hasMany(), config.batching().timeout(), async);
        return Optional.of(new Front() {
            @Override
            public Handler.Wrapper handler() {
                return api;
            }

            @Override
            public void refuse() {
                async.ifPresent(AsyncInvocations::stop);
            }

            @Override
            public Duration mostToClose() {
                return async.isPresent() ? AsyncInvocations.LAST_OBJECTS : Duration.ZERO;
            }

            @Override
            public void close() throws InterruptedException {
                if (async.isPresent()) {
                    async.get().close();
                }
            }
        });
    }
}
