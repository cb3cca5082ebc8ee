package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.serving.Health;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.many.ManyModels;
import dev.berth.serving.many.Served;
import io.javalin.http.Context;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;

/// What a server serves: its models by name, whether it has one or many, and its health.
///
/// @param only what the only model of a server is called
public record NamedModels(Served served, Health health, String only) {

    /// The version of every model.
    public static final String VERSION = "1";

    public boolean hasMany() {
        return served.many().isPresent();
    }

    /// The model that clients mean, under the name that answers have.
    ///
    /// @param name empty: the only model
    /// @param version empty: any
    /// @throws ServingException `NOT_FOUND` where there is none of that name or version
    public String target(String name, String version) {
        if (!version.isEmpty() && !version.equals(VERSION)) {
            throw ErrorType.NOT_FOUND.found("version", CallerText.quoted(version), VERSION);
        }
        if (!hasMany() && !name.isEmpty() && !name.equals(only)) {
            throw ErrorType.NOT_FOUND.found(
                    "model", CallerText.quoted(name), only + "; --model-name gives it another name");
        }
        return hasMany() ? name : only;
    }

    /// By their names.
    public List<ManyModels.Entry> list() {
        return served.many()
                .map(ManyModels::list)
                .orElseGet(() -> List.of(new ManyModels.Entry(only, Path.of(""), Optional.empty(), served.problem())));
    }

    /// Waits for the requests that run, and unloads a model of `--models`. The next request loads it.
    ///
    /// @throws ServingException `BAD_INPUT` where the server has no such models, `NOT_FOUND` where it
    ///   is not loaded
    public void unload(String name) {
        var models = served.many()
                .filter(ManyModels::haveDirectory)
                .orElseThrow(() -> ErrorType.BAD_INPUT.because(
                        "found a server without --models, expected one: only its models can be unloaded"));
        try {
            var _ = models.unload(name);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw ErrorType.NOT_READY.because("the server is stopping", e);
        }
    }

    /// Waits until a model is loaded. One of `--models` is loaded where it is not.
    ///
    /// @throws ServingException why it can't be loaded
    public void load(String model, Deadline deadline) {
        served.many()
                .ifPresentOrElse(
                        models -> models.awaitLoaded(model, deadline),
                        () -> enter(model, deadline).close());
    }

    /// What metrics call a model.
    public String inMetrics(String model) {
        return hasMany() ? model : Served.NAME;
    }

    /// The model that the path names; the only one where it names none.
    public String target(Context ctx) {
        var path = ctx.pathParamMap();
        return target(path.getOrDefault("name", ""), path.getOrDefault("version", ""));
    }

    public ServedModel.Visit enter(String model, Deadline deadline) {
        return served.enter(model, deadline);
    }

    /// Why a model can't be asked. One that the first request loads can be.
    public Optional<String> problem(String name) {
        return served.many().map(models -> problem(models.describe(name))).orElseGet(served::problem);
    }

    /// @throws ServingException `NOT_READY` where a model can't be asked
    public void requireReady(String model) {
        problem(model).ifPresent(problem -> {
            throw ErrorType.NOT_READY.because(problem);
        });
    }

    private static Optional<String> problem(ManyModels.Entry entry) {
        return switch (entry.status().orElse("")) {
            case "loaded" -> Optional.empty();
            case "loading" -> Optional.of("the model is loading");
            default -> entry.problem();
        };
    }

    /// The names of those that can be asked.
    public List<String> ready() {
        return list().stream()
                .filter(entry -> problem(entry).isEmpty())
                .map(ManyModels.Entry::name)
                .toList();
    }
}
