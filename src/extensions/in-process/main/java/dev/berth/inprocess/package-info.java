/// The model of an artifact for callers in the same process: [InProcessModel] without a listener,
/// [InProcessServer] with one.
package dev.berth.inprocess;
