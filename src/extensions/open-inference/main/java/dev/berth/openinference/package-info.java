/// The Open Inference Protocol, version 2: its messages as JSON with binary tensors and as
/// protobuf, and the way of tensors to the hooks and back.
///
/// Its routes are those of two protocols: `V2Routes`, and `GrpcRoutes` with health and reflection.
/// It knows nothing of queues or engines. Routes run on the request's virtual thread; requests and
/// answers of models are translated on threads for hooks.
package dev.berth.openinference;
