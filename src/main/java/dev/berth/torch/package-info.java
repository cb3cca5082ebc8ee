/// libtorch through DJL, which nothing outside this package touches: from a file to a loaded model, from arrays to arrays,
/// from text to tokens.
///
/// It knows nothing of questions, batches or HTTP. Models run on the workers' platform threads; nothing here starts a
/// thread or holds a lock.
package dev.berth.torch;
