package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.berth.hooks.ModelContext;
import dev.berth.testing.Gate;
import dev.berth.testing.GatedHandler;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/// The life of a server: how it starts, how it fails to, and how it stops.
class ServerTest {

  /// A model that says on which thread it was closed.
  private record FakeModel(List<String> closedOn) implements AutoCloseable {
    @Override
    public void close() {
      closedOn.add(Thread.currentThread().getName());
    }
  }

  /// A handler whose models, and which itself, note when they are closed.
  private static class FakeClosingHandler extends TextHandler implements AutoCloseable {
    final List<String> closedOn = new CopyOnWriteArrayList<>();
    final List<ModelContext> contexts = new CopyOnWriteArrayList<>();

    @Override
    public Object modelFn(ModelContext context) throws Exception {
      contexts.add(context);
      return new FakeModel(closedOn);
    }

    @Override
    public void close() {
      closedOn.add("handler");
    }
  }

  @Test
  void eachWorkerLoadsTheModelOnceAndClosesItOnItsOwnThreadBeforeTheHandler() throws Exception {
    var handler = new FakeClosingHandler();
    try (var _ = TestServer.with(handler).set("SAGEMAKER_MODEL_SERVER_WORKERS", "3").start()) {
      assertThat(handler.contexts).extracting(ModelContext::worker).containsExactly(0, 1, 2);
      assertThat(handler.contexts).extracting(ModelContext::modelDirectory).containsOnly(TestServer.SAMPLE_ARTIFACT);
    }
    assertThat(handler.closedOn).hasSize(4).endsWith("handler")
        .contains("model-worker-0", "model-worker-1", "model-worker-2");
  }

  @Test
  @Tag("HOOK-04")
  @Tag("RUN-14")
  void aModelThatCannotBeLoadedIsNeverReadyAndLeavesNothingOpen() throws Exception {
    var handler = new FakeClosingHandler() {
      @Override
      public Object modelFn(ModelContext context) throws Exception {
        if (context.worker() == 1) {
          throw new IllegalStateException("no weights");
        }
        return super.modelFn(context);
      }
    };
    try (var server = TestServer.with(handler).set("SAGEMAKER_MODEL_SERVER_WORKERS", "2").startWithoutWaiting()) {
      assertThatThrownBy(() -> server.server().awaitReady())
          .isInstanceOf(StartException.class).hasMessageContaining("no weights");
      assertThat(server.get("/ping").statusCode()).isEqualTo(503);
      assertThat(server.invoke("a").statusCode()).isEqualTo(503);
      assertThat(server.get("/execution-parameters").statusCode()).isEqualTo(503);
    }
    assertThat(handler.closedOn).containsExactly("model-worker-0", "handler");
  }

  @Test
  void aWarmUpThatFailsStopsTheStart() throws Exception {
    var handler = new TextHandler() {
      @Override
      public void warmUpFn(Object model) {
        throw new IllegalStateException("cold");
      }
    };
    try (var server = TestServer.with(handler).startWithoutWaiting()) {
      assertThatThrownBy(() -> server.server().awaitReady()).isInstanceOf(StartException.class).hasMessageContaining("cold");
    }
  }

  @Test
  @Tag("RUN-07")
  void aStoppingServerAnswersWhatItHasTakenAndRefusesTheRest() throws Exception {
    var gate = new Gate(1);
    var server = TestServer.with(new GatedHandler(gate)).set("SAGEMAKER_MODEL_SERVER_WORKERS", "1").start();
    var running = server.invokeAsync("running");
    gate.awaitArrival();
    var waiting = server.invokeAsync("waiting");
    await().until(() -> server.get("/metrics").body().contains("berth_queue_depth 1.0"));
    var stopped = CompletableFuture.runAsync(() -> {
      try {
        server.server().close();
      } catch (Exception e) {
        throw new IllegalStateException(e);
      }
    });
    await().until(() -> server.get("/ping").statusCode() == 503);
    assertThat(server.invoke("late").statusCode()).isEqualTo(503);
    gate.open();
    assertThat(running.get().body()).isEqualTo("RUNNING");
    assertThat(waiting.get().body()).isEqualTo("WAITING");
    stopped.get();
  }

  @Test
  void whatDoesNotFinishWithinTheTimeToDrainIsRefused() throws Exception {
    var gate = new Gate(1);
    var server = TestServer.with(new GatedHandler(gate)).set("BERTH_DRAIN_SECONDS", "0").start();
    var running = server.invokeAsync("running");
    gate.awaitArrival();
    server.server().close();
    assertThat(running.get().statusCode()).isEqualTo(503);
  }
}
