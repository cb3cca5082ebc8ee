package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/// The images that Berth's begin with are named in one way everywhere, and a release can name them
/// by digest.
class ImageBasesTest {

    private static final Pattern ARGUMENT = Pattern.compile("(?m)^ARG ([A-Z]+)=(\\S+:\\S+)$");
    private static final Pattern FROM = Pattern.compile("(?m)^FROM (?:--platform=\\S+ )?(\\S+)(?: AS (\\S+))?$");
    private static final Pattern VARIABLE =
            Pattern.compile("variable \"([A-Z]+)\" \\{\\n +default = \"([^\"]+:[^\"]+)\"");

    @Test
    void everyBaseIsABuildArgument() throws Exception {
        var dockerfile = Files.readString(Path.of("Dockerfile"));
        var stages = FROM.matcher(dockerfile)
                .results()
                .map(found -> found.group(2))
                .filter(name -> name != null)
                .toList();
        var bases = arguments().keySet().stream().map("${%s}"::formatted).toList();
        assertThat(FROM.matcher(dockerfile).results().map(found -> found.group(1)))
                .allMatch(name -> name.equals("scratch") || stages.contains(name) || bases.contains(name));
    }

    @Test
    void bakeAndTheReleaseNameTheSameBases() throws Exception {
        var variables = VARIABLE.matcher(Files.readString(Path.of("docker-bake.hcl")))
                .results()
                .collect(Collectors.toMap(found -> found.group(1), found -> found.group(2)));
        assertThat(variables).isEqualTo(arguments());
        var release = Files.readString(Path.of(".github/workflows/release.yml"));
        assertThat(release).contains("for base in DEBIAN JDK MAVEN;");
        assertThat(arguments().keySet())
                .containsExactlyInAnyOrder("DEBIAN", "JDK", "MAVEN")
                .allMatch(name -> release.contains("%1$s=${{ steps.bases.outputs.%1$s }}".formatted(name)));
    }

    private static Map<String, String> arguments() throws Exception {
        return ARGUMENT.matcher(Files.readString(Path.of("Dockerfile")))
                .results()
                .collect(Collectors.toMap(found -> found.group(1), found -> found.group(2)));
    }
}
