package dev.berth.telemetry;

/// Something that takes time, from when it was made until it is closed.
public interface Step extends AutoCloseable {

    /// Of a server that traces nothing.
    Step NONE = new Step() {};

    /// A part of it begins.
    default Step step(String name) {
        return NONE;
    }

    /// It ends with this. The message stays here: it may have some of a payload in it.
    default void failed(Throwable why) {}

    @Override
    default void close() {}
}
