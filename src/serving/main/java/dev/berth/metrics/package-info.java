/// Every instrument of the server, named once: [dev.berth.metrics.ServingMetrics] has those of the
/// process, [dev.berth.metrics.ModelMetrics] those of a model, and [dev.berth.metrics.HookMetrics] those
/// that its hooks name.
///
/// It knows nothing of HTTP, queues or models: they tell it what happened, in methods named for the
/// event. Every method may be called from every thread, also under a lock, because none of them
/// blocks.
package dev.berth.metrics;
