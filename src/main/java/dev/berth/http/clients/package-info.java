/// What clients of other servers for ready tasks speak: those of Text Embeddings Inference, of
/// Hugging Face's inference API, of Cohere and of Jina. A file for each protocol, and all of them
/// JSON that becomes the JSON of `/invocations`.
///
/// Knows the forms of the tasks as `docs/tasks.md` has them, and nothing of the handlers, routes or
/// queues. Runs on threads for hooks.
package dev.berth.http.clients;
