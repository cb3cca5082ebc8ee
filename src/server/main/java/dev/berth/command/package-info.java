/// The commands: `serve`, `check`, `init` and `transform`, the log, and the display of progress.
///
/// It puts the parts together and may use all of them; none of them knows it. Each command runs on
/// the main thread; a server that it starts has threads of its own.
package dev.berth.command;
