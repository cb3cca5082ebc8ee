package dev.berth.serving.many;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.fail;
import static org.awaitility.Awaitility.await;

import dev.berth.error.ErrorType;
import dev.berth.error.ServingException;
import dev.berth.hooks.ModelContext;
import dev.berth.serving.many.ModelVersion.Artifact;
import dev.berth.testing.ModelHost;
import dev.berth.testing.TextHandler;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/// How many models load at a time, and which of them go first. The test says when a load ends.
class ModelStoreTest {

    private static final Path NOWHERE = Path.of(".");

    private final ModelHost host = new ModelHost();
    private final List<String> inside = new CopyOnWriteArrayList<>();
    private final CountDownLatch end = new CountDownLatch(1);
    private ModelStore store;

    @AfterEach
    void close() throws Exception {
        end.countDown();
        host.close();
    }

    @Test
    void asManyLoadAtATimeAsThereAreTurnsForAndTheOthersAfterThem() throws Exception {
        store = store(Duration.ofMinutes(5));
        var slots = begin("m", ModelStore.LOADS + 5);
        await().until(() -> slots.stream().allMatch(slot -> slot.loader.getState() == Thread.State.WAITING)
                && inside.size() >= ModelStore.LOADS);
        assertThat(inside).hasSize(ModelStore.LOADS);
        end.countDown();
        for (var slot : slots) {
            slot.awaitLoaded();
        }
        assertThat(inside)
                .containsExactlyInAnyOrderElementsOf(
                        slots.stream().map(ModelVersion::name).toList());
    }

    @Test
    void loadsThatNeverEndKeepNobodyWaitingForLongerThanALoadMayTake() throws Exception {
        store = store(Duration.ofMillis(500));
        var hung = begin("hung", ModelStore.LOADS);
        assertThat(hung)
                .allSatisfy(
                        slot -> assertThatThrownBy(slot::awaitLoaded).hasMessageContaining("was not loaded within"));
        begin("m", 1);
        await().until(() -> inside.contains("m0"));
    }

    @Test
    void aLoadThatIsGivenUpWhileItWaitsFreesItsNameAtOnce() throws Exception {
        store = store(Duration.ofMinutes(5));
        begin("hung", ModelStore.LOADS);
        await().until(() -> inside.size() == ModelStore.LOADS);
        var waiting = begin("m", 1).getFirst();
        store.close(Duration.ZERO);
        waiting.left.join();
        assertThat(store.find(waiting.name())).isEmpty();
    }

    @Test
    void ofTooManyThatWaitTheLastIsRefused() throws Exception {
        store = store(Duration.ofMinutes(5));
        begin("m", ModelStore.MOST);
        assertThatThrownBy(() -> begin("one-more", 1))
                .hasMessage("%d models are being loaded or wait for that; try again later".formatted(ModelStore.MOST))
                .isInstanceOfSatisfying(
                        ServingException.class, e -> assertThat(e.type()).isEqualTo(ErrorType.TOO_MANY_LOADS));
        assertThat(store.find("one-more0")).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"warm-up", "first request"})
    void aModelThatFailsBeforeItServesIsClosed(String when) throws Exception {
        var handler = new TextHandler() {
            @Override
            public AutoCloseable modelFn(ModelContext context) {
                return () -> inside.add("closed");
            }

            @Override
            public void warmUpFn(Object model) {
                if (when.equals("warm-up")) {
                    fail(when);
                }
            }
        };
        store = host.store((model, directory, _) -> host.load(model, directory, handler, _ -> fail(when)));
        assertThatThrownBy(() -> begin("m", 1).getFirst().awaitLoaded()).hasMessageContaining(when);
        assertThat(inside).containsExactly("closed");
    }

    private List<ModelVersion> begin(String name, int count) {
        return IntStream.range(0, count)
                .mapToObj(i -> store.begin(new Artifact(name + i, NOWHERE, Optional.empty()), false, Optional.empty()))
                .toList();
    }

    /// Models whose name begins with `hung` mind no interrupt.
    private ModelStore store(Duration patience) {
        return host.store(
                (model, directory, _) -> {
                    inside.add(model.name());
                    do {
                        awaitEnd(model.name());
                    } while (model.name().startsWith("hung") && end.getCount() > 0);
                    host.load(model, directory, new TextHandler(), _ -> {});
                },
                patience);
    }

    private void awaitEnd(String name) throws InterruptedException {
        try {
            end.await();
        } catch (InterruptedException e) {
            if (!name.startsWith("hung")) {
                throw e;
            }
        }
    }
}
