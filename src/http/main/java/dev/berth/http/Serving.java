package dev.berth.http;

import dev.berth.serving.Health;
import dev.berth.serving.many.Served;

/// What a server serves.
///
/// @param samples finds the sample of an artifact
public record Serving(Served models, Health health, SampleFile.Finder samples) {

    public boolean hasMany() {
        return models.many().isPresent();
    }
}
