package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.handler.qa.QuestionAnsweringHandler;
import dev.berth.hooks.Accelerator;
import dev.berth.hooks.InferenceHandler;
import dev.berth.memory.HostMemory;
import dev.berth.serving.hooks.Deadline;
import dev.berth.serving.many.ManyModels;
import dev.berth.serving.many.ModelRoom;
import dev.berth.testing.Gate;
import dev.berth.testing.ModelHost;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import org.junit.jupiter.api.AutoClose;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// Models and the memory that they need, in a control group whose files the test writes.
class ModelMemoryTest {

    private static final long MB = 1L << 20;

    @TempDir
    Path root;

    @TempDir
    Path artifact;

    @AutoClose
    private final ModelHost host = new ModelHost();

    private ManyModels models;

    @Test
    @Tag("MME-03")
    void aModelThatDoesNotFitIsRefusedBeforeItIsLoadedAndTheOthersServe() throws Exception {
        used(200);
        var store = store(directory -> new QuestionAnsweringHandler(directory));
        store.load("m1", TestServer.SAMPLE_ARTIFACT);
        used(430);
        assertThatThrownBy(() -> store.load("m7", TestServer.SAMPLE_ARTIFACT))
                .hasMessage("model \"m7\" needs about 63 MB, found 18 MB free of 512 MB (cgroup), unload another first")
                .satisfies(ModelMemoryTest::isShort);
        assertThat(store.list()).extracting(ManyModels.Entry::name).containsExactly("m1");
        store.enter("m1", Deadline.in(Duration.ofMinutes(1), System::nanoTime)).close();

        used(300);
        store.load("m7", TestServer.SAMPLE_ARTIFACT);
        assertThat(store.list()).hasSize(2);
    }

    @Test
    @Tag("MME-03")
    void aModelThatNeedsMoreThanThereIsAtAllSaysSo() throws Exception {
        group(60, 1);
        assertThatThrownBy(() -> store(QuestionAnsweringHandler::new).load("m", TestServer.SAMPLE_ARTIFACT))
                .hasMessage(
                        "model \"m\" needs about 63 MB, found 0 MB free of 60 MB (cgroup), take a machine with more memory");
    }

    @Test
    void aModelThatIsBeingLoadedHasItsPlace() throws Exception {
        used(340);
        var gate = new Gate(1);
        var store = store(directory ->
                directory.equals(artifact) ? new TextHandler() : TextHandler.before("modelFn", _ -> gate.pass()));
        var first = CompletableFuture.runAsync(() -> store.load("first", TestServer.SAMPLE_ARTIFACT));
        gate.awaitArrival();
        // 108 MB less the 68.6 that the first one may still take.
        assertThatThrownBy(() -> store.load("second", TestServer.SAMPLE_ARTIFACT))
                .hasMessageContaining("found 45 MB free");
        store.load("small", artifact);
        gate.open();
        first.get();
    }

    @Test
    void aModelThatTakesWhatMustStayFreeIsUnloaded() throws Exception {
        used(200);
        var store = store(_ -> TextHandler.before("modelFn", _ -> used(480)));
        assertThatThrownBy(() -> store.load("large", artifact))
                .hasMessage(
                        "model \"large\" needs 32 MB more than there were, found 0 MB free of 512 MB (cgroup), unload another first")
                .satisfies(ModelMemoryTest::isShort);
        assertThat(store.list()).isEmpty();
        assertThat(models.all()).isEmpty();
    }

    /// As with a GPU, of which this machine has none: the weights are there and not in the host.
    @Test
    void withAGpuTheHostNeedsRoomForTheRest() {
        var file = TestServer.SAMPLE_ARTIFACT.resolve("model.pt");
        assertThat(ArtifactLoader.host(List.of(new Accelerator.Gpu(0)), new HostMemory())
                        .need()
                        .apply(file)
                        .kept())
                .isZero();
        var devices =
                ArtifactLoader.devices(List.of(new Accelerator.Gpu(0), new Accelerator.Gpu(0), new Accelerator.Gpu(1)));
        assertThat(devices).hasSize(2);
        assertThat(devices.getFirst().need().apply(file).kept()).isBetween(24 * MB, 48 * MB);
        assertThat(ArtifactLoader.devices(ModelHost.CPU)).isEmpty();
    }

    private static void isShort(Throwable thrown) {
        assertThat(thrown)
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.INSUFFICIENT_MEMORY));
    }

    private ManyModels store(Function<Path, InferenceHandler<?, ?, ?>> handler) {
        var room = new ModelRoom(
                (model, directory, _) -> host.load(model, directory, handler.apply(directory), _ -> {}),
                ArtifactLoader.host(ModelHost.CPU, new HostMemory(root, () -> 0)),
                ArtifactLoader.devices(ModelHost.CPU),
                Optional.empty());
        models = ManyModels.of(host.store(room));
        return models;
    }

    /// Of 512 MB, of which 64 must stay free.
    private void used(long megabytes) {
        group(512, megabytes);
    }

    private void group(long limit, long used) {
        write("proc/self/cgroup", "0::/");
        write("sys/fs/cgroup/memory.max", "" + limit * MB);
        write("sys/fs/cgroup/memory.current", "" + used * MB);
    }

    private void write(String path, String text) {
        try {
            Files.createDirectories(root.resolve(path).getParent());
            Files.writeString(root.resolve(path), text);
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }
}
