/// Text to the rows of a model and back, with Hugging Face's tokenizers through DJL. A
/// [dev.berth.tokenizer.WordCutter] cuts words before that, where a model wants it.
///
/// Only this package may see DJL's tokenizers, and it must not know models, engines or what the
/// tokens are for. It runs on the thread that calls, which is mostly a request's in `inputFn`.
package dev.berth.tokenizer;
