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
        var files = json.part("files");
        if (!files.json().isObject()) {
            return Optional.empty();
        }
        json.checkFormat();
        var builds = new EnumMap<Target, Path>(Target.class);
        for (var entry : files.json().properties()) {
            var device = Target.named(entry.getKey());
            var build = directory.resolve(entry.getValue().asText());
            if (device.isEmpty()) {
                json.problem("files: found \"%s\", expected devices: %s"
                        .formatted(entry.getKey(), names(Arrays.asList(Target.values()))));
            } else if (!entry.getValue().isTextual()
                    || build.normalize().equals(directory.normalize())
                    || !build.normalize().startsWith(directory.normalize())
                    || !Files.isDirectory(build)) {
                files.part(entry.getKey()).wrong("the name of a directory of the artifact");
            } else {
                checkTarget(json, device.get(), build);
                builds.put(device.get(), build);
            }
        }
        if (files.json().isEmpty()) {
            files.wrong("a list of {\"path\": …}, or a directory for each device");
        }
        json.stopIfWrong();
        return Optional.of(new ArtifactBuilds(directory, Collections.unmodifiableMap(builds)));
    }

    private static void checkTarget(ModelJson json, Target device, Path build) {
        ModelJson.ifAny(build)
                .findTarget()
                .filter(target -> !device.runs(target))
                .ifPresent(target ->
                        json.problem("files.%1$s: found a build that is traced for %2$s, expected one for %1$s"
                                .formatted(device, target)));
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
