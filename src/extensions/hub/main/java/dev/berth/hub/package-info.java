/// Models as they lie on Hugging Face's hub: which of their files is taken, and what `model.json`
/// would say of them. And the command `pack`, which makes artifacts of them.
///
/// It reads `config.json` and the files beside it, and loads a model only where `serve pack` tries
/// it. It is used by the thread that opens a model, and by `serve pack`.
package dev.berth.hub;
