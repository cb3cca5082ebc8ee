package dev.berth.artifact;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ArtifactTreeTest {

    @TempDir
    private Path directory;

    @Test
    void aLinkBackIsWalkedOnceByTheDirectorysOwnPath() throws IOException {
        write("code/A.java");
        link("code/self", ".");
        link("again", "code");
        link("loop", "loop");
        link("gone", "nothing");
        assertThat(files()).containsExactly("code/A.java", "gone", "loop");
    }

    @Test
    void whatIsBehindALinkCountsAndHiddenFilesDoNot(@TempDir Path elsewhere) throws IOException {
        Files.createFile(elsewhere.resolve("Far.java"));
        Files.createSymbolicLink(directory.resolve("code"), elsewhere);
        write(".git/config");
        write("._model.pt");
        assertThat(files()).containsExactly("code/Far.java");
        assertThat(ArtifactTree.files(directory.resolve("none"), _ -> true)).isEmpty();
    }

    @Test
    void moreFilesThanAnArtifactHasAreRefused() throws IOException {
        for (int i = 0; i < 10; i++) {
            write("d%d/file".formatted(i));
        }
        assertThat(ArtifactTree.files(directory, _ -> true, 21)).hasSize(10);
        assertThatThrownBy(() -> ArtifactTree.files(directory, _ -> true, 20))
                .isInstanceOf(ModelArtifactException.class)
                .hasMessageContaining("found more than 20 files, expected an artifact; do its links lead elsewhere?");
    }

    private Set<String> files() {
        return new TreeSet<>(ArtifactTree.files(directory, _ -> true).keySet().stream()
                .map(Path::toString)
                .toList());
    }

    private void write(String file) throws IOException {
        Files.createDirectories(directory.resolve(file).getParent());
        Files.createFile(directory.resolve(file));
    }

    private void link(String name, String target) throws IOException {
        Files.createSymbolicLink(directory.resolve(name), Path.of(target));
    }
}
