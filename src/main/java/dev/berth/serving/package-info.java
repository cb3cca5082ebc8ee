/// What is served: the models by their names, the pool that runs their hooks, the deadline of a
/// request, and health.
///
/// It drives a request through the four hooks, says when a model can serve, and turns what hooks
/// throw into the server's own errors. It knows nothing of HTTP or of engines. Requests wait on
/// their own virtual threads, hooks run on the threads of [dev.berth.serving.HookPool], models on
/// their workers'.
package dev.berth.serving;
