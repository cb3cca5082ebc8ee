/// The bodies of OpenAI's API, for handlers and hooks: what is asked, as records, and the forms of
/// its answers.
///
/// One strict reader for all of them ([Api]). A field is read, or it asks for nothing, or it is
/// refused by its name. A handler names the fields besides that its model can do. The package knows
/// nothing of models, tokens, queues or HTTP, and everything here is immutable.
package dev.berth.openai;
