/// Microsoft's ONNX Runtime as an [dev.berth.engine.Engine]: from an ONNX file to a graph, from
/// tensors to tensors.
///
/// Only this package may see ONNX Runtime, and it must not know handlers, batches or HTTP. A model
/// runs on the worker's thread, or on a thread of `engine.cores` for which the worker waits, where
/// it has several cores of a CPU.
package dev.berth.engine.onnx;
