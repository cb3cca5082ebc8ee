package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.http.openinference.InferTarget;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.many.ModelDirectory;
import dev.berth.serving.many.Served;
import io.javalin.http.Context;
import java.util.List;
import java.util.Optional;

/// The models of a server by name, whether it has one or many.
///
/// @param only what the only model of a server is called
record NamedModels(Served served, String only) {

  /// The model that clients mean, under the name that answers have.
  ///
  /// @param name empty: the only model
  /// @param version empty: any
  /// @throws ServingException `NOT_FOUND` where there is none of that name or version
  InferTarget target(String name, String version) {
    if (!version.isEmpty() && !version.equals(InferTarget.VERSION)) {
      throw ErrorType.NOT_FOUND.because(
          "version: found %s, expected %s".formatted(Text.quoted(version), InferTarget.VERSION));
    }
    boolean many = served instanceof Served.Many;
    if (!many && !name.isEmpty() && !name.equals(only)) {
      throw ErrorType.NOT_FOUND.because(
          "model: found %s, expected %s; --model-name gives it another name"
              .formatted(Text.quoted(name), only));
    }
    return new InferTarget(many ? name : only, InferTarget.VERSION);
  }

  /// A model as the server lists it.
  ///
  /// @param status a word: [#LOADED], `loading`, `not loaded` or `failed`
  /// @param problem why it can't serve, or what is wrong besides
  record Listed(InferTarget target, String status, Optional<String> problem) {}

  static final String LOADED = "loaded";

  /// By their names.
  List<Listed> list() {
    if (served instanceof Served.Many(var models)) {
      return models.list().stream()
          .map(
              entry ->
                  new Listed(
                      new InferTarget(entry.name(), InferTarget.VERSION),
                      entry.status().orElse(LOADED),
                      entry.problem()))
          .toList();
    }
    var target = target("", "");
    var problem = problem(target);
    return List.of(new Listed(target, problem.isEmpty() ? LOADED : "failed", problem));
  }

  /// As [#target(String, String)], of a model that is there.
  InferTarget existing(String name, String version) {
    var target = target(name, version);
    if (served instanceof Served.Many(var models)) {
      var _ = models.describe(target.model());
    }
    return target;
  }

  /// What metrics call a model.
  String inMetrics(InferTarget target) {
    return served instanceof Served.Many ? target.model() : Served.NAME;
  }

  /// Unloads a model of `--models`, which the next request loads again.
  ///
  /// @throws ServingException `BAD_INPUT` where the server has no such models
  void unload(InferTarget target) {
    if (!(served instanceof Served.Many(ModelDirectory directory))) {
      throw ErrorType.BAD_INPUT.because(
          "model %s can't be unloaded here: %s"
              .formatted(
                  target.model(),
                  served instanceof Served.Many
                      ? "POST /models and DELETE /models/{name} load and unload models"
                      : "the server has it as long as it runs; --models serves several"));
    }
    try {
      var _ = directory.unload(target.model());
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw ErrorType.NOT_READY.because("the server is stopping", e);
    }
  }

  boolean has(String name) {
    return served instanceof Served.Many(var models)
        ? models.list().stream().anyMatch(entry -> entry.name().equals(name))
        : only.equals(name);
  }

  /// The model that the path names; the only one where it names none.
  InferTarget target(Context ctx) {
    var path = ctx.pathParamMap();
    return target(path.getOrDefault("name", ""), path.getOrDefault("version", ""));
  }

  ServedModel.Visit enter(InferTarget target, Deadline deadline) {
    return served.enter(target.model(), deadline);
  }

  /// Why a model can't be asked. One that the first request loads can be.
  Optional<String> problem(InferTarget target) {
    return switch (served) {
      case Served.One(var model) -> model.problem();
      case Served.Watched(var versions) -> versions.problem(Served.NAME);
      case Served.Many(var models) -> {
        var entry = models.describe(target.model());
        yield entry
            .problem()
            .or(() -> entry.status().filter("loading"::equals).map(_ -> "the model is loading"));
      }
    };
  }
}
