package dev.berth.storage;

/// An object that a listing found.
///
/// @param location where it is, to be opened
/// @param key what it is called below the location that was listed. Where the prefix `in/da` of a
///   listing ends within a name, the whole name counts: `in/data.csv` is `data.csv`; so is the
///   object that is listed by its own location
/// @param size in bytes
public record StoredObject(Location location, String key, long size) {}
