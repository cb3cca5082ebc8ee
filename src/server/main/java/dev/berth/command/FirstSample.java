package dev.berth.command;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.code.Thrown;
import dev.berth.config.ServerConfig;
import dev.berth.engine.Graph;
import dev.berth.error.ServingException;
import dev.berth.handler.task.TaskHandler;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.serving.hooks.FirstRequest;
import dev.berth.serving.hooks.LoadException;
import dev.berth.serving.hooks.Rehearsal;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Asks each model the artifact's `sample.json` before it serves, where there is one. Workers that
/// share a model ask once. Used by one thread at a time.
final class FirstSample implements FirstRequest {

    private static final Logger log = LoggerFactory.getLogger(FirstSample.class);

    private final Path directory;
    private final ServerConfig config;
    private final Set<Object> asked = Collections.newSetFromMap(new IdentityHashMap<>());

    /// @param directory the artifact's
    FirstSample(Path directory, ServerConfig config) {
        this.directory = directory;
        this.config = config;
    }

    /// @throws ModelArtifactException when a hook fails, or the response is not that of
    ///   `sample-response.json`
    @Override
    public void ask(Rehearsal<?, ?, ?> model) throws Exception {
        if (checksSample(model.handler()) || !asked.add(model.model())) {
            return;
        }
        var sample = SampleRequest.in(directory, model.requestTypes());
        if (sample.isPresent()) {
            ask(model, sample.get());
        }
        if (model.handler() instanceof TensorHandler tensors) {
            log.info("{}: a forward takes {}", directory, tensors.forwards());
        }
    }

    /// Whether the handler has asked in its warm-up.
    static boolean checksSample(InferenceHandler<?, ?, ?> handler) {
        return handler instanceof TaskHandler<?, ?, ?> task && task.checksSample();
    }

    private void ask(Rehearsal<?, ?, ?> model, SampleRequest sample) throws Exception {
        tryRows(model, sample, config);
        try (var body = Files.newInputStream(sample.file())) {
            sample.check(model.ask(sample.request(body, model, config)).response());
            if (model.handler() instanceof TensorHandler tensors) {
                tensors.expectTypesOfSample();
            }
        } catch (ServingException e) {
            if (e.getCause() instanceof InsufficientMemoryException memory) {
                throw memory;
            }
            throw new ModelArtifactException(directory, problem(sample, e), e);
        } catch (IOException e) {
            throw new ModelArtifactException(directory, "%s: it can't be asked: %s".formatted(sample.name(), e), e);
        }
    }

    /// Has a model of tensors find out what may go through it together, before it is asked.
    static void tryRows(Rehearsal<?, ?, ?> model, SampleRequest sample, ServerConfig config)
            throws IOException, LoadException {
        if (model.handler() instanceof TensorHandler tensors && model.model() instanceof Graph graph) {
            try (var body = Files.newInputStream(sample.file())) {
                tensors.trySample(sample.request(body, model, config), graph);
            }
        }
    }

    /// What a caller would get.
    static String problem(SampleRequest sample, ServingException e) {
        return "%s: the model does not answer it: %s; correct it, or delete it and sample-response.json"
                .formatted(sample.name(), Thrown.withCauses(e.getMessage(), e.getCause()));
    }
}
