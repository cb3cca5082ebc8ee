package dev.berth.http;

import dev.berth.serving.Health;
import dev.berth.serving.many.ModelRegistry;
import dev.berth.serving.many.Served;

/// What a server serves.
///
/// @param loaded the models that are loaded
/// @param samples finds the sample of an artifact
public record Serving(Served models, ModelRegistry loaded, Health health, SampleFile.Finder samples) {

    public boolean hasMany() {
        return models instanceof Served.Many;
    }
}
