package dev.berth.command;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.config.ServerConfig;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.serving.hooks.FirstRequest;
import dev.berth.serving.hooks.Rehearsal;
import java.nio.file.Path;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Asks each model the artifact's `sample.json` before it serves, where there is one. Workers that
/// share a model ask once. Used by one thread at a time.
public final class FirstSample implements FirstRequest {

    private static final Logger log = LoggerFactory.getLogger(FirstSample.class);

    private final Path directory;
    private final ServerConfig config;
    private final Set<Object> asked = Collections.newSetFromMap(new IdentityHashMap<>());

    /// @param directory the artifact's
    public FirstSample(Path directory, ServerConfig config) {
        this.directory = directory;
        this.config = config;
    }

    /// @throws ModelArtifactException when a hook fails, or the response is not that of
    ///   `sample-response.json`
    @Override
    public void ask(Rehearsal<?, ?, ?> model) throws Exception {
        if (!asked.add(model.model())) {
            return;
        }
        var sample = SampleRequest.in(directory, model.requestTypes());
        if (sample.isPresent()) {
            sample.get().check(model, sample.get().ask(model, config));
            if (model.handler() instanceof TensorHandler tensors) {
                tensors.expectTypesOfSample();
            }
        }
        if (model.handler() instanceof TensorHandler tensors) {
            log.info("{}: a forward takes {}", directory, tensors.forwards());
        }
    }
}
