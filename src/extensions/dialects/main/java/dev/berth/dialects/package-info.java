/// Dialects of clients of other servers and platforms: Vertex AI and KServe's version 1,
/// TorchServe, Text Embeddings Inference, Hugging Face's inference API, Cohere, Jina and MLflow. A
/// file for each, and requests go the way of `POST /invocations`.
///
/// Knows the forms of the tasks as `docs/tasks.md` has them, and nothing of the handlers or queues.
/// Dialects run on threads for hooks, routes on the request's virtual thread.
package dev.berth.dialects;
