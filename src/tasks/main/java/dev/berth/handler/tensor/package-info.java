/// The tensor handler: serves any model file without a line of code, and is there to be extended.
///
/// It knows nothing of HTTP, queues or what the numbers mean. Its hooks run on the threads that
/// [dev.berth.hooks.InferenceHandler] names.
package dev.berth.handler.tensor;
