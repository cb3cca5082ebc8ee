package dev.berth.page;

import dev.berth.command.SampleRequest;
import dev.berth.hooks.MediaType;
import dev.berth.http.NamedModels;
import dev.berth.serving.ModelFacts;
import dev.berth.serving.many.ManyModels;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The models that can be asked, as they are at the moment.
///
/// @param directory of the artifact, where there is one model
record Catalog(NamedModels models, Path directory) {

    /// A model.
    ///
    /// @param path where it is asked
    /// @param state a word for what it is doing
    /// @param problem why it can't serve
    /// @param facts nothing where it is not loaded
    record Entry(
            String name,
            String path,
            String state,
            Optional<String> problem,
            Optional<ModelFacts> facts,
            Optional<SampleRequest> sample) {

        List<MediaType> requestTypes() {
            return facts.map(ModelFacts::requestTypes).orElse(List.of());
        }

        List<MediaType> responseTypes() {
            return facts.map(ModelFacts::responseTypes).orElse(List.of());
        }

        /// What requests may be sent as. Where the hooks decide, the type of the sample comes first.
        List<MediaType> takes() {
            return orAny(requestTypes(), sample.map(found -> found.types().getFirst()));
        }

        /// What answers may be.
        List<MediaType> gives() {
            return orAny(
                    responseTypes(), sample.flatMap(SampleRequest::response).map(_ -> MediaType.JSON));
        }

        private static List<MediaType> orAny(List<MediaType> declared, Optional<MediaType> known) {
            return declared.isEmpty()
                    ? Stream.concat(known.stream(), Stream.of(MediaType.ANY)).toList()
                    : declared;
        }
    }

    boolean hasMany() {
        return models.hasMany();
    }

    /// By their names.
    List<Entry> list() {
        return models.list().stream().map(this::entry).toList();
    }

    Optional<Entry> find(String name) {
        return list().stream().filter(entry -> entry.name.equals(name)).findFirst();
    }

    /// What is known of those that are loaded.
    Stream<ModelFacts> facts() {
        return list().stream().flatMap(entry -> entry.facts.stream());
    }

    private Entry entry(ManyModels.Entry model) {
        var facts = facts(model.name());
        var only = facts.isEmpty() ? "not loaded" : model.problem().isPresent() ? "failed" : "loaded";
        var readable = facts.map(ModelFacts::requestTypes).orElse(List.of());
        return new Entry(
                model.name(),
                hasMany() ? "/models/%s/invoke".formatted(encoded(model.name())) : "/invocations",
                hasMany() ? model.status().orElse("loaded") : only,
                model.problem(),
                facts,
                SampleRequest.ofAnyBuild(hasMany() ? model.directory() : directory, readable));
    }

    /// Of two versions, either one's: they seldom differ in what they take.
    private Optional<ModelFacts> facts(String name) {
        return models.served().all().stream()
                .filter(model -> model.name().equals(models.inMetrics(name)))
                .flatMap(model -> model.facts().stream())
                .findFirst();
    }

    private static String encoded(String name) {
        return URLEncoder.encode(name, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
