package dev.berth.artifact;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class OversightsTest {

    @TempDir
    private Path directory;

    @Test
    void aJarThatIsNotUsedIsNamedWithItsRightPlace() throws IOException {
        for (var jar : new String[] {
            "a.jar", "lib/b.jar", "code/lib/deep/c.jar", "code/hooks.jar", "code/lib/d.jar", "target/e.jar"
        }) {
            Files.createDirectories(directory.resolve(jar).getParent());
            Files.createFile(directory.resolve(jar));
        }
        assertThat(Oversights.in(directory))
                .containsExactly(
                        "a.jar: found a jar that is not used here; put libraries into code/lib, and hooks into code",
                        "code/lib/deep/c.jar: found a jar that is not used here; put libraries into code/lib, and hooks into code",
                        "lib/b.jar: found a jar that is not used here; put libraries into code/lib, and hooks into code");
    }

    @Test
    void aRelativePathWillDo() {
        assertThat(Oversights.in(Path.of("model-artifact"))).isEmpty();
        assertThat(Oversights.in(Path.of("examples/mnist"))).isEmpty();
    }

    @Test
    void aLinkToNothingIsNamed() throws IOException {
        Files.createSymbolicLink(directory.resolve("weights.bin"), Path.of("../gone"));
        Files.createFile(directory.resolve("there"));
        Files.createSymbolicLink(directory.resolve("good"), Path.of("there"));
        assertThat(Oversights.in(directory))
                .containsExactly("weights.bin: found a link to nothing; tar -h packs what links lead to");
        assertThat(Oversights.in(directory.resolve("none"))).isEmpty();
    }
}
