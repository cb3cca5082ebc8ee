/// How forwards share the cores of the CPU, whatever engine runs them: [Cores] for engines, which
/// alone use it.
///
/// It must not know any engine. A forward runs on the worker's thread. One of libtorch on several
/// cores runs on a thread of [CoreShares] for which the worker waits.
package dev.berth.engine.cores;
