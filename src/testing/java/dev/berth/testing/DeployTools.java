package dev.berth.testing;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/// The image of `src/test/deploy`: what `deploy/` needs besides Berth, from Debian's packages.
public final class DeployTools {

    public static final String IMAGE = "berth-test-deploy";

    private static boolean built;

    private DeployTools() {}

    /// Builds it, once for all tests. To be called after [BerthImage#needsDocker].
    public static synchronized void build() throws IOException, InterruptedException {
        if (!built) {
            BerthImage.run(
                    List.of("docker", "build", "-t", IMAGE, "src/test/deploy"),
                    Path.of("target", "docker-build-deploy.log"));
            built = true;
        }
    }
}
