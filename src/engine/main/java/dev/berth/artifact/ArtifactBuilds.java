package dev.berth.artifact;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collection;
import java.util.Collections;
import java.util.EnumMap;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;

/// An artifact with a build for each of several devices, as SageMaker's instance pools want one:
/// the same `model.tar.gz` starts on whatever type of instance has room.
///
/// ```json
/// {"format": 1, "files": {"cpu": "cpu", "gpu": "gpu", "inf2": "inf2"}}
/// ```
///
/// Each build is an artifact of its own, in a directory of this one.
///
/// @param directories of the builds, by the device that each is for
public record ArtifactBuilds(Path directory, Map<Target, Path> directories) {

    /// Reads and checks which builds there are.
    ///
    /// @return empty: the artifact has one build, which is itself
    /// @throws ModelArtifactException with everything that is wrong
    public static Optional<ArtifactBuilds> read(Path directory) {
        if (!ModelJson.isIn(directory)) {
            return Optional.empty();
        }
        var json = ModelJson.read(directory);
        var files = json.json().path("files");
        if (!files.isObject()) {
            return Optional.empty();
        }
        json.checkFormat();
        var builds = new EnumMap<Target, Path>(Target.class);
        for (var entry : files.properties()) {
            var name = "files." + entry.getKey();
            var device = Arrays.stream(Target.values())
                    .filter(target -> target.toString().equals(entry.getKey()))
                    .findFirst();
            var build = directory.resolve(entry.getValue().asText());
            if (device.isEmpty()) {
                json.problem("model.json: files: found \"%s\", expected devices: %s"
                        .formatted(entry.getKey(), names(Arrays.asList(Target.values()))));
            } else if (!entry.getValue().isTextual()
                    || build.normalize().equals(directory.normalize())
                    || !build.normalize().startsWith(directory.normalize())
                    || !Files.isDirectory(build)) {
                json.wrong(name, entry.getValue(), "the name of a directory of the artifact");
            } else {
                checkTarget(json, name, device.get(), build);
                builds.put(device.get(), build);
            }
        }
        if (files.isEmpty()) {
            json.wrong("files", "a list of {\"path\": …}, or a directory for each device");
        }
        json.stopIfWrong();
        return Optional.of(new ArtifactBuilds(directory, Collections.unmodifiableMap(builds)));
    }

    private static void checkTarget(ModelJson json, String name, Target device, Path build) {
        ModelDescription.read(build)
                .target()
                .filter(target -> !device.runs(target))
                .ifPresent(target ->
                        json.problem("model.json: %s: found a build that is traced for %s, expected one for %s"
                                .formatted(name, target, device)));
    }

    /// The build that a device runs: its own, else that of a kind that runs the same code.
    public Optional<Path> of(Target device) {
        return Optional.ofNullable(directories.get(device))
                .or(() -> directories.entrySet().stream()
                        .filter(build -> device.runs(build.getKey()))
                        .map(Map.Entry::getValue)
                        .findFirst());
    }

    /// What there is, such as `cpu, gpu`.
    public String devices() {
        return names(directories.keySet());
    }

    private static String names(Collection<Target> targets) {
        return targets.stream().map(Target::toString).collect(Collectors.joining(", "));
    }
}
