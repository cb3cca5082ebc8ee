/// The model artifact: a checked directory with its `model.json`.
///
/// It says what was traced, for which device and with which shapes, and reports everything that is
/// wrong at once. It knows nothing of engines or handlers. Read once, at start, by the thread that
/// opens the model.
package dev.berth.artifact;
