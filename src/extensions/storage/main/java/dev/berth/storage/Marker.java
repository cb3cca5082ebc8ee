package dev.berth.storage;

import java.time.Duration;

/// A small text in a place where other processes look for it, as it was found.
///
/// @param version differs after it was written again with another text
/// @param age since it was written, by the clock of the store: those of machines differ
public record Marker(String text, String version, Duration age) {}
