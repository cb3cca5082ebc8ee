package dev.berth.hooks;

import java.time.Duration;

/// What hooks count and time themselves, next to what the server does. [ModelContext#metrics()] has
/// it, and [#current()] where hooks run.
///
/// ```java
/// public Labels modelFn(ModelContext context) {
///   unknown = context.metrics().counter("unknown_words", "words that the tokenizer did not know");
///   …
/// }
/// ```
///
/// The counter above is `hooks_unknown_words_total{model="…"}` in `/metrics`. A timer is
/// `hooks_NAME_seconds` and a gauge `hooks_NAME`. They go when the model is unloaded. Asking twice
/// for a name gives the same instrument, so each worker may ask.
///
/// A name is 1 to 60 lower-case letters, digits and `_`, and begins with a letter. A model has at
/// most 100 of them. There are no labels, so requests can't make new series. All methods may be
/// called by any thread and never block for long.
public interface Metrics {

    /// Counts upwards.
    @FunctionalInterface
    interface Counter {

        /// @param amount not negative
        void add(double amount);

        default void increment() {
            add(1);
        }
    }

    /// Counts how often something was done, and adds up how long it took.
    @FunctionalInterface
    interface Timer {
        void record(Duration took);
    }

    /// A value that goes up and down: the one that was set last. All workers of a model set the same
    /// one.
    @FunctionalInterface
    interface Gauge {
        void set(double value);
    }

    /// Metrics that nobody looks at, as in unit tests.
    Metrics NONE = new Metrics() {
        @Override
        public Counter counter(String name, String description) {
            return _ -> {};
        }

        @Override
        public Timer timer(String name, String description) {
            return _ -> {};
        }

        @Override
        public Gauge gauge(String name, String description) {
            return _ -> {};
        }
    };

    /// For whoever calls hooks, which have it bound.
    ScopedValue<Metrics> CURRENT = ScopedValue.newInstance();

    /// Those of the model whose hook the calling thread runs, for code that a hook calls; [#NONE] on
    /// other threads.
    static Metrics current() {
        return CURRENT.orElse(NONE);
    }

    /// @throws IllegalArgumentException when the name is not one, is that of another kind, or is one
    ///   too many
    Counter counter(String name, String description);

    /// @throws IllegalArgumentException when the name is not one, is that of another kind, or is one
    ///   too many
    Timer timer(String name, String description);

    /// @throws IllegalArgumentException when the name is not one, is that of another kind, or is one
    ///   too many
    Gauge gauge(String name, String description);
}
