/// The seam between handlers and the libraries that run models: [Engine], [Graph], and the devices
/// of a machine. Hooks may use [Graph], [SharedGraphs], [KeptTensor] and the exceptions.
///
/// It must not know any library, any content type or what a tensor means; `engine.torch` and its
/// like depend on it and never the other way round. Devices are chosen on the thread that starts
/// the server; a graph runs on the worker's thread, or on one that the engine keeps for forwards on
/// several cores.
package dev.berth.engine;
