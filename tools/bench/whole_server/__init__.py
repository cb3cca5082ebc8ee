"""The whole-server benchmark behind tools/bench/run."""
