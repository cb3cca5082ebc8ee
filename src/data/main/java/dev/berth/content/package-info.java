/// Content types: bytes of a request into records, predictions into bytes of a response.
/// [ContentTypes] is the list of them for built-in handlers, `serve check` and the batch runner.
/// Hooks call each by itself, as in `Json.read(request)`.
///
/// What is wrong with a payload is a [dev.berth.hooks.BadInputException] that names the place, what
/// was found and what was expected. Everything here is immutable and may be used by any threads;
/// nothing here knows of models, queues or HTTP.
package dev.berth.content;
