package dev.berth.serving;

import dev.berth.artifact.code.HookPlace;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// A hook has failed while its model was loaded. The message names the hook; the cause is what it threw, if it did.
public final class LoadException extends Exception {

  /// When to say that a hook still runs. Loading has no deadline, because a large model may take minutes.
  private static final Duration LONG = Duration.ofSeconds(30);

  private static final Logger log = LoggerFactory.getLogger(LoadException.class);

  private LoadException(String message, Throwable cause) {
    super(message, cause);
  }

  /// A hook has returned what it must not.
  LoadException(String message) {
    this(message, null);
  }

  /// Runs a hook that a model can't be loaded without.
  static <T> T during(String hook, Callable<T> call) throws LoadException {
    return during(hook, LONG, call);
  }

  static <T> T during(String hook, Duration patience, Callable<T> call) throws LoadException {
    var ended = new CompletableFuture<Void>();
    ended.copy().orTimeout(patience.toNanos(), TimeUnit.NANOSECONDS).exceptionally(_ -> {
      log.warn("{} still runs after {} s; until it ends the model is not ready", hook, patience.toSeconds());
      return null;
    });
    try {
      return call.call();
    } catch (Throwable e) {
      throw new LoadException("%s failed%s: %s".formatted(hook, HookPlace.of(e), e), e);
    } finally {
      ended.complete(null);
    }
  }
}
