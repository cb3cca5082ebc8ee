package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/// Docker Compose of this machine: the plugin, else the program of its own.
public final class Compose {

    private Compose() {}

    /// The words that it is called by, in the order of AWS's SDK. Skips the calling test where there
    /// is none; fails it if there has to be one.
    public static List<String> command() {
        var found = List.of(List.of("docker", "compose"), List.of("docker-compose")).stream()
                .filter(Compose::works)
                .findFirst();
        if ("true".equals(System.getenv("REQUIRE_DOCKER"))) {
            assertThat(found)
                    .as("Docker Compose, which REQUIRE_DOCKER=true asks for")
                    .isPresent();
        }
        assumeThat(found).as("Docker Compose").isPresent();
        return found.orElseThrow();
    }

    private static boolean works(List<String> command) {
        var version = new ArrayList<>(command);
        version.add("version");
        try {
            return new ProcessBuilder(version)
                            .redirectErrorStream(true)
                            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
                            .start()
                            .waitFor()
                    == 0;
        } catch (IOException e) {
            return false;
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
