package dev.berth.command;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.artifact.ArtifactBuilds;
import dev.berth.artifact.ArtifactFile;
import dev.berth.artifact.ModelArtifactException;
import dev.berth.artifact.code.Thrown;
import dev.berth.config.HttpConfig;
import dev.berth.config.ServerConfig;
import dev.berth.config.ServingConfig;
import dev.berth.config.ServingConfig.BadRecords;
import dev.berth.content.ContentTypes;
import dev.berth.engine.Graph;
import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.handler.task.TaskHandler;
import dev.berth.handler.task.TaskRecord;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.CallerText;
import dev.berth.json.JsonText;
import dev.berth.json.NotJsonException;
import dev.berth.serving.hooks.FirstRequest;
import dev.berth.serving.hooks.HookPredictor;
import dev.berth.serving.hooks.LoadException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Stream;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The request that an artifact brings as its own test: `sample.json`, or `sample.csv`,
/// `sample.png` and so on, with the response to it in `sample-response.json` if it likes.
///
/// @param types what the ending of the file may stand for, the usual one first
public record SampleRequest(Path file, List<MediaType> types) {

    /// How far apart two numbers of a response may be, absolutely or relatively: processors add in
    /// different orders.
    private static final double TOLERANCE = 1e-3;

    private static final int LONGEST_SHOWN = 2000;

    private static final Map<String, String> SHORT_ENDINGS =
            Map.of("jpeg", "jpg", "tiff", "tif", "mpeg", "mp3", "wave", "wav");

    private static final Logger log = LoggerFactory.getLogger(SampleRequest.class);

    /// @param readable the content types that the hooks read; empty: any
    /// @throws StartException when there is one that can't be read
    public static Optional<SampleRequest> in(Path directory, List<MediaType> readable) throws StartException {
        var types = new LinkedHashMap<String, List<MediaType>>();
        ContentTypes.all()
                .forEach(type -> type.fileEndings()
                        .forEach(ending -> types.putIfAbsent(ending, new ArrayList<>(type.mediaTypes()))));
        readable.forEach(type -> endings(type)
                .forEach(ending ->
                        types.computeIfAbsent(ending, _ -> new ArrayList<>()).add(type)));
        var found = types.entrySet().stream()
                .map(type -> new SampleRequest(directory.resolve("sample." + type.getKey()), type.getValue()))
                .filter(sample -> ArtifactFile.isThere(sample.file))
                .findFirst();
        for (var sample : found.stream().toList()) {
            for (var file : Stream.concat(Stream.of(sample.file), sample.response().stream())
                    .toList()) {
                var problem = ArtifactFile.problem(file);
                if (problem.isPresent()) {
                    throw new StartException("%s: %s".formatted(file.getFileName(), problem.get()));
                }
            }
        }
        return found;
    }

    /// The endings of the files of a type, as its name says: `audio/x-wav` is `wav`, `image/jpeg` is
    /// `jpeg` or `jpg`.
    private static Stream<String> endings(MediaType type) {
        var name = type.subtype().replaceFirst("^(x-|vnd\\.)", "").replaceFirst("\\+.*", "");
        return Stream.concat(Stream.of(name), Stream.ofNullable(SHORT_ENDINGS.get(name)));
    }

    /// The same for those who try the model; nothing where it can't be read. All builds of an artifact
    /// are asked the same.
    public static Optional<SampleRequest> ofAnyBuild(Path artifact, List<MediaType> readable) {
        try {
            var directory = ArtifactBuilds.read(artifact)
                    .flatMap(builds -> builds.directories().values().stream().findFirst())
                    .orElse(artifact);
            return in(directory, readable);
        } catch (StartException | ModelArtifactException e) {
            log.debug("{} has no sample that can be read", artifact, e);
            return Optional.empty();
        }
    }

    /// The type to send it as.
    ///
    /// @param readable the content types that the hooks read; empty: any
    public MediaType type(List<MediaType> readable) {
        return types.stream()
                .filter(type -> readable.isEmpty() || readable.contains(type))
                .findFirst()
                .orElse(types.getFirst());
    }

    /// Has each model asked its sample before it serves, where there is one, by one thread at a time.
    /// Workers that share a model ask once. A model that does not answer as `sample-response.json` says
    /// must not serve.
    ///
    /// @param directory the artifact's
    static FirstRequest first(Path directory, ServerConfig config) {
        var asked = Collections.newSetFromMap(new IdentityHashMap<Object, Boolean>());
        return model -> {
            if (!asked.add(model.model)) {
                return;
            }
            var sample = in(directory, model.hooks.requestTypes());
            if (sample.isPresent()) {
                sample.get().check(model, sample.get().ask(model, config));
            }
            if (model.hooks.handler instanceof TensorHandler tensors) {
                if (sample.isPresent()) {
                    tensors.expectTypesOfSample();
                }
                log.info("{}: a forward takes {}", directory, tensors.forwards());
            }
        };
    }

    /// What messages call it.
    public String name() {
        return file.getFileName().toString();
    }

    /// What a model is to answer with, as by a server that gets no `Accept`. Where the response is known
    /// that is JSON, whatever the default type is.
    ///
    /// @throws LoadException when the hooks do not say what types they write
    public MediaType accept(HookPredictor<?, ?, ?> model, ServerConfig config) throws LoadException {
        var writable = model.hooks.responseTypes();
        var wanted = response().isPresent() ? MediaType.JSON : config.get(HttpConfig.DEFAULT_ACCEPT);
        return writable.isEmpty() || writable.contains(wanted) ? wanted : writable.getFirst();
    }

    /// Asks a model, as a server would. One of tensors finds out first what may go through it together.
    ///
    /// @throws ModelArtifactException when it does not answer
    /// @throws LoadException when the hooks do not say what types they take
    public <I> HookPredictor.Answer<I> ask(HookPredictor<?, I, ?> model, ServerConfig config) throws LoadException {
        try {
            if (model.hooks.handler instanceof TensorHandler tensors && model.model instanceof Graph graph) {
                try (var body = Files.newInputStream(file)) {
                    tensors.trySample(request(body, model, config), graph);
                }
            }
            try (var body = Files.newInputStream(file)) {
                return model.ask(request(body, model, config));
            }
        } catch (ServingException e) {
            if (e.getCause() instanceof InsufficientMemoryException memory) {
                throw memory;
            }
            throw problem(
                    "the model does not answer it: %s; correct the hooks or the sample, or delete it and sample-response.json"
                            .formatted(Thrown.withCauses(e.getMessage(), e.getCause())),
                    e);
        } catch (IOException e) {
            throw problem("it can't be asked: " + e, e);
        }
    }

    private ModelArtifactException problem(String what, Exception cause) {
        return new ModelArtifactException(file.getParent(), "%s: %s".formatted(name(), what), cause);
    }

    /// @throws ServingException when a server would refuse it before any hook
    private InvocationRequest request(InputStream body, HookPredictor<?, ?, ?> model, ServerConfig config)
            throws LoadException {
        var readable = model.hooks.requestTypes();
        var contentType = type(readable);
        if (!readable.isEmpty() && !readable.contains(contentType)) {
            throw ErrorType.UNSUPPORTED_MEDIA_TYPE.found(
                    "Content-Type", "\"%s\"".formatted(contentType), "one of " + readable);
        }
        return new InvocationRequest(
                body,
                contentType,
                accept(model, config),
                Optional.empty(),
                "sample",
                config.get(ServingConfig.BAD_RECORDS) == BadRecords.KEEP);
    }

    /// The file of the response that the artifact expects, where it says.
    public Optional<Path> response() {
        return Optional.of(file.resolveSibling("sample-response.json")).filter(ArtifactFile::isThere);
    }

    /// Compares an answer with the response that the artifact expects. The handler of a task may accept
    /// another one.
    ///
    /// @return whether it expects one
    /// @throws StartException when they differ, or what it expects can't be read
    public boolean check(HookPredictor<?, ?, ?> model, HookPredictor.Answer<?> answer) throws StartException {
        if (response().isEmpty()) {
            return false;
        }
        var file = response().get();
        JsonNode expected;
        try {
            expected = JsonText.read(file);
        } catch (IOException e) {
            throw new StartException("%s: %s".formatted(file, e.getMessage()));
        }
        var difference = difference(expected, answer.response());
        if (difference.isPresent()
                && !(model.hooks.handler instanceof TaskHandler<?, ?, ?> task
                        && accepts(task, expected, answer.records(), model.model))) {
            throw new StartException("%s: found %s".formatted(file, difference.get()));
        }
        return true;
    }

    private Optional<String> difference(JsonNode expected, InvocationResponse response) {
        try {
            var found = JsonText.read(response.body());
            return found.equals(SampleRequest::compare, expected)
                    ? Optional.empty()
                    : Optional.of(
                            "another response to %s: %s; if it is the right one, put it into this file, or delete the file"
                                    .formatted(name(), found));
        } catch (NotJsonException _) {
            return Optional.of("a response to %s that is not JSON: %s".formatted(name(), shown(response)));
        }
    }

    @SuppressWarnings("unchecked") // It gets what it has made.
    private static <M, T, P> boolean accepts(
            TaskHandler<M, T, P> task, JsonNode expected, List<?> records, Object model) {
        return !records.isEmpty() && task.acceptsSample(expected, (List<TaskRecord<T, P>>) records, (M) model);
    }

    /// For leaves: 0 where they are the same.
    private static int compare(JsonNode a, JsonNode b) {
        if (a.isNumber() && b.isNumber()) {
            double difference = Math.abs(a.doubleValue() - b.doubleValue());
            return difference <= TOLERANCE * Math.max(1, Math.abs(b.doubleValue())) ? 0 : 1;
        }
        return a.equals(b) ? 0 : 1;
    }

    /// A response as a terminal can show it: its text, cut where it is long; type and size where it
    /// is none.
    public static String shown(InvocationResponse response) {
        int length = response.body().length;
        return CallerText.ofUtf8(response.body())
                .filter(text -> text.chars().noneMatch(SampleRequest::isControl))
                .map(text -> text.length() <= LONGEST_SHOWN
                        ? text
                        : "%s (%d bytes)".formatted(CallerText.cut(text, LONGEST_SHOWN), length))
                .orElseGet(() -> "%s, %d bytes".formatted(response.contentType(), length));
    }

    private static boolean isControl(int character) {
        return Character.isISOControl(character) && !Character.isWhitespace(character);
    }
}
