package dev.berth.serving;

import java.util.Optional;

/// A reason why `/ping` may be 503: one of the list in [Health].
@FunctionalInterface
public interface HealthProbe {

    /// Why the process can't go on and should be replaced, as a sentence for people; nothing where
    /// all is well. Called for each `/ping` and for each request of metrics, on the thread that asks
    /// and on several at once. It must neither block nor throw.
    Optional<String> problem();

    /// Takes a sample, where the answer needs more time than `/ping` has. Called about twice a second
    /// on one thread of the server, which looks after stuck hooks too. It may allocate, and what it
    /// throws is logged.
    default void look() {}
}
