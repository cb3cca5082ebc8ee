/// libtorch through DJL, and the devices that it runs on. Outside this package only tokenizers touch DJL.
///
/// From `INSTANCE_TYPE` to accelerators, from a file to a loaded model, from arrays to arrays: it knows nothing of
/// questions, batches or HTTP. Models run on the workers' platform threads; nothing here starts a thread or holds a
/// lock.
package dev.berth.torch;
