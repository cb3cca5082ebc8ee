/// Extractive question answering: the built-in handler, and the example to imitate.
///
/// [dev.berth.handler.qa.QuestionAnsweringHandler] is nothing but the published hooks on top of
/// `engine`; payload forms, windows and the search in them each have a file. It knows nothing of HTTP,
/// queues or configuration. Reading, tokenising and writing run on request threads, the model on
/// workers; everything is immutable after the start but the map of loaded models.
package dev.berth.handler.qa;
