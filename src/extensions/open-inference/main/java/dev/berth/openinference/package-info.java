/// The Open Inference Protocol, version 2: its messages as JSON with binary tensors and as
/// protobuf, and the way of tensors to the hooks and back.
///
/// It knows nothing of Javalin, models or queues. Requests and answers of models are translated on
/// threads for hooks.
package dev.berth.openinference;
