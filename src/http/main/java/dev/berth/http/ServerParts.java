package dev.berth.http;

import dev.berth.config.HttpConfig;
import dev.berth.config.ServerConfig;
import dev.berth.metrics.ServingMetrics;
import dev.berth.serving.Health;

/// What a protocol has of a server. For any thread.
///
/// @param log has a line for each request, which is there already
public record ServerParts(
        ServerConfig config, NamedModels models, ServingMetrics metrics, RequestLog log, Paths paths) {

    public Health health() {
        return models.health();
    }

    /// Asks a model, in the hooks' own way or in a dialect.
    public Invocations invocations() {
        return new Invocations(config, models);
    }

    /// Refuses what pages from elsewhere ask.
    public Origins origins() {
        return new Origins(HttpConfig.isLocal(config));
    }
}
