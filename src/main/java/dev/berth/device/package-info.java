/// The devices of a machine: from `INSTANCE_TYPE`, or from what is there, to the accelerators that models run on.
///
/// It looks at device files and drivers and asks libtorch for its GPUs; it loads no model and knows none. It runs once,
/// at start, on the thread that loads the model.
package dev.berth.device;
