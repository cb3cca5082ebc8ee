package dev.berth.engine.torch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;

class CoreTeamTest {

  private final CoreTeam team = new CoreTeam(1);

  @Test
  void forwardsRunOnOneThread() {
    var thread = team.run(2, Thread::currentThread);
    assertThat(thread).isNotEqualTo(Thread.currentThread()).isEqualTo(team.run(1, Thread::currentThread));
    assertThat(thread.isDaemon()).isTrue();
  }

  @Test
  void nothingOfTheCallerStaysWithIt() {
    var loader = new ClassLoader() {};
    Thread.currentThread().setContextClassLoader(loader);
    assertThat(team.run(2, () -> Thread.currentThread().getContextClassLoader())).isNotEqualTo(loader);
  }

  @Test
  void whatAForwardThrowsIsTheCallers() {
    var problem = new TorchException("refused");
    var error = new OutOfMemoryError("none left");
    assertThatThrownBy(() -> team.run(2, () -> {
      throw problem;
    })).isSameAs(problem);
    assertThatThrownBy(() -> team.run(2, () -> {
      throw error;
    })).isSameAs(error);
    assertThat(team.run(2, () -> "as before")).isEqualTo("as before");
  }

  @Test
  void anInterruptWaitsForTheForward() throws Exception {
    var begun = new CompletableFuture<Void>();
    var mayEnd = new CompletableFuture<String>();
    var found = new CompletableFuture<String>();
    var caller = Thread.ofPlatform().start(() -> found.complete(team.run(2, () -> {
      begun.complete(null);
      return mayEnd.join();
    }) + Thread.currentThread().isInterrupted()));
    begun.join();

    caller.interrupt();
    mayEnd.complete("done, interrupted: ");

    assertThat(found.get()).isEqualTo("done, interrupted: true");
  }
}
