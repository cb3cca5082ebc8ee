/// One served model: the way of a request through its hooks, its answer, whole or in parts, and the
/// health of the process.
///
/// It drives a request through the four hooks, says when a model can serve, and turns what hooks
/// throw into the server's own errors. It knows nothing of HTTP or of engines. Requests wait on
/// their own virtual threads, hooks run on those of [dev.berth.serving.hooks.HookThreads],
/// and models on those of [dev.berth.batching.WorkerPool].
package dev.berth.serving;
