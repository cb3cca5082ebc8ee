"""The whole-server benchmark behind bench/run."""
