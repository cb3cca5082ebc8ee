/// `serve init`: writes a model artifact with hooks to begin with.
///
/// The files of each template lie in the jar; nothing here knows what is in them. Runs on the command's thread.
package dev.berth.init;
