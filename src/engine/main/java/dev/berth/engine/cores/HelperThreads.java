package dev.berth.engine.cores;

/// Whose threads help that which runs a forward on several cores.
public enum HelperThreads {
    /// libgomp's: it keeps some for each thread that has ever wanted help.
    LIBGOMP,
    /// Those of the engine, the same for all threads.
    ENGINE
}
