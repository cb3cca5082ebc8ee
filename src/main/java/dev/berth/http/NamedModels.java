package dev.berth.http;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.http.openinference.InferTarget;
import dev.berth.serving.ServedModel;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.many.ManyModels;
import dev.berth.serving.many.Served;
import io.javalin.http.Context;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

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
      case Served.Many(var models) -> problem(models.describe(target.model()));
    };
  }

  private static Optional<String> problem(ManyModels.Entry entry) {
    return entry
        .problem()
        .or(() -> entry.status().filter("loading"::equals).map(_ -> "the model is loading"));
  }

  /// The names of those that can be asked.
  List<String> ready() {
    return served instanceof Served.Many(var models)
        ? models.list().stream()
            .filter(entry -> problem(entry).isEmpty())
            .map(ManyModels.Entry::name)
            .toList()
        : Stream.of(only).filter(_ -> problem(target("", "")).isEmpty()).toList();
  }
}
