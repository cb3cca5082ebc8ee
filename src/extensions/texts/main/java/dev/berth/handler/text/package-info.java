/// The tasks on texts that need no code: text classification, sentence embeddings and their like.
///
/// [dev.berth.handler.text.TextHandler] reads texts, makes rows of tokens and runs the model. Each
/// task is one class above it: its parameters, and what it makes of a row's output. A
/// [dev.berth.handler.text.TextForm] is the form of another API. Of equal texts of a request the model
/// gets one, and a cache may have the answers of earlier ones. It knows
/// nothing of HTTP, queues or configuration. Reading and writing run on hook threads, the model on
/// workers.
package dev.berth.handler.text;
