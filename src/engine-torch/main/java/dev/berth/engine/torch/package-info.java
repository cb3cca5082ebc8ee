/// libtorch through DJL, as an [dev.berth.engine.Engine]: from a TorchScript file to a graph, from
/// tensors to tensors.
///
/// Only this package may see DJL's PyTorch, and it must not know handlers, batches or HTTP. A model
/// runs on the worker's thread, or on a thread of [CoreShares] for which the worker waits, where it
/// has several cores of a CPU.
package dev.berth.engine.torch;
