/// Many models in one process: their names, the store that loads and unloads them, the directory
/// that `--models` follows, the memory that they share, and which of them makes way.
package dev.berth.serving.many;
