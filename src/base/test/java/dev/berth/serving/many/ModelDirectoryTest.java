package dev.berth.serving.many;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.serving.hooks.Deadline;
import dev.berth.testing.CapturedLog;
import dev.berth.testing.ModelHost;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.attribute.FileTime;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// What a directory of models takes for an artifact that is whole. The test says when to look.
class ModelDirectoryTest {

    @TempDir
    Path root;

    private final ModelHost host = new ModelHost();
    private final List<String> loads = new CopyOnWriteArrayList<>();
    private final ModelStore store = host.store((model, directory, _) -> {
        loads.add(Files.readString(directory.resolve("file")));
        host.load(model, directory, new TextHandler(), _ -> {});
    });
    private ModelDirectory directory;
    private ManyModels models;

    @BeforeEach
    void make() {
        directory = new ModelDirectory(root, false, store, false, Duration.ofDays(1));
        models = directory.models();
    }

    @AfterEach
    void close() throws Exception {
        directory.close();
        host.close();
    }

    @Test
    void aNewDirectoryIsServedWhenTwoLooksHaveSeenTheSame() throws Exception {
        directory.look(true);
        write("m/file", "1");
        directory.look(false);
        assertThat(models.list()).isEmpty();
        write("m/file", "22");
        directory.look(false);
        assertThatThrownBy(this::enter)
                .hasMessage("model \"m\" is neither loaded nor a directory of " + root)
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.NOT_FOUND));
        directory.look(false);
        enter();
        assertThat(loads).containsExactly("22");
    }

    @Test
    void aChangeIsLoadedWhenTwoLooksHaveSeenTheSame() throws Exception {
        serve();
        write("m/file", "22");
        directory.look(false);
        write("m/file", "333");
        directory.look(false);
        assertThat(loads).containsExactly("1");
        directory.look(false);
        await().untilAsserted(() -> assertThat(loads).containsExactly("1", "333"));
        await().untilAsserted(() -> assertThat(models.all()).hasSize(1));
        directory.look(false);
        directory.look(false);
        assertThat(models.all()).hasSize(1);
        enter();
        assertThat(loads).hasSize(2);
    }

    @Test
    void whatAMacAddsIsNeitherAModelNorAChange() throws Exception {
        serve();
        write("__MACOSX/m/._file", "");
        write("m/.DS_Store", "");
        directory.look(false);
        directory.look(false);
        assertThat(models.list()).hasSize(1);
        assertThat(loads).containsExactly("1");
    }

    @Test
    void aDirectoryIsGoneWhenTwoLooksHaveNotSeenIt() throws Exception {
        serve();
        var aside = root.resolve(".m");
        Files.move(root.resolve("m"), aside);
        directory.look(false);
        Files.move(aside, root.resolve("m"));
        directory.look(false);
        directory.look(false);
        assertThat(models.describe("m").status()).contains("loaded");

        Files.move(root.resolve("m"), aside);
        directory.look(false);
        directory.look(false);
        assertThat(models.list()).noneMatch(entry -> entry.status().equals(Optional.of("loaded")));
        await().untilAsserted(() -> assertThat(models.all()).isEmpty());
        directory.look(false);
        assertThatThrownBy(this::enter).hasMessageContaining("is neither loaded nor a directory of");
        assertThat(loads).containsExactly("1");
    }

    @Test
    void aDirectoryOfModelsThatCannotBeReadChangesNothing() throws Exception {
        write("m/file", "1");
        directory.look(true);
        Files.move(root, root.resolveSibling("aside"));
        try (var log = new CapturedLog(ModelDirectory.class)) {
            directory.look(false);
            directory.look(false);
            directory.look(false);
            assertThat(log.events())
                    .singleElement()
                    .satisfies(event -> assertThat(event.getFormattedMessage())
                            .contains(root + " can't be read, what was there before stays"));
        } finally {
            Files.move(root.resolveSibling("aside"), root);
        }
        enter();
        assertThat(loads).containsExactly("1");
    }

    @Test
    void whatEditorsAndMavenWriteIsNoEdit() throws Exception {
        write("m/file", "1");
        write("m/code/Inference.java", "1");
        var artifact = root.resolve("m");
        var before = ArtifactFiles.edited(artifact);
        for (var file : List.of(
                "m/code/.Inference.java.swp", "m/code/Inference.java~", "m/target/classes/A.class", "m/.git/index")) {
            write(file, "1");
        }
        assertThat(ArtifactFiles.edited(artifact)).isEqualTo(before);
        assertThat(ArtifactFiles.in(artifact)).isNotEqualTo(before);
        write("m/code/Inference.java", "22");
        assertThat(ArtifactFiles.edited(artifact)).isNotEqualTo(before);
    }

    @Test
    void anotherFileOrAnotherDirectoryInThePlaceOfOneIsAChange() throws Exception {
        write("v1/file", "1");
        write("v2/file", "2");
        for (var file : List.of("v1/file", "v2/file")) {
            Files.setLastModifiedTime(root.resolve(file), FileTime.fromMillis(1_000_000));
        }
        var link = Files.createSymbolicLink(root.resolve("m"), root.resolve("v1"));
        var first = ArtifactFiles.in(link);
        assertThat(ArtifactFiles.in(link)).isEqualTo(first);
        Files.delete(link);
        Files.createSymbolicLink(link, root.resolve("v2"));
        assertThat(ArtifactFiles.in(link)).isNotEqualTo(first);
        Files.move(root.resolve("v2/file"), root.resolve("v1/file"), StandardCopyOption.REPLACE_EXISTING);
        assertThat(ArtifactFiles.in(root.resolve("v1"))).isNotEqualTo(first);
    }

    /// Has the first version of a model loaded.
    private void serve() throws IOException {
        write("m/file", "1");
        directory.look(true);
        enter();
    }

    private void enter() {
        models.enter("m", Deadline.in(Duration.ofMinutes(2), System::nanoTime)).close();
    }

    private void write(String file, String text) throws IOException {
        var path = root.resolve(file);
        Files.createDirectories(path.getParent());
        Files.writeString(path, text);
    }
}
