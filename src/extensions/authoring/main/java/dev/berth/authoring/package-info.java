/// The commands for those who write model artifacts: [InitCommand] writes hooks to begin with, and
/// [CheckCommand] says whether an artifact can be served here, and how fast.
package dev.berth.authoring;
