/// The commands `serve` and `health`, what another [dev.berth.command.Subcommand]
/// needs of them, and the log.
///
/// It puts the parts of the base together; none of them knows it, and it names no extension. Each
/// command runs on the main thread; a server that it starts has threads of its own.
package dev.berth.command;
