/// What the handlers of tasks have in common: the forms of requests and answers, parameters, labels
/// and scores, and models that take rows of tokens.
///
/// [dev.berth.handler.qa], [dev.berth.handler.text] and [dev.berth.handler.image] are made of
/// these. It knows nothing of HTTP, queues or configuration, and of no single task. Requests are
/// read on hook threads, models run on workers.
package dev.berth.handler.task;
