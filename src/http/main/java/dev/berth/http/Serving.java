package dev.berth.http;

import dev.berth.serving.Health;
import dev.berth.serving.many.Served;

/// What a server serves.
public record Serving(Served models, Health health) {

    public boolean hasMany() {
        return models.many().isPresent();
    }
}
