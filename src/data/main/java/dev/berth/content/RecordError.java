package dev.berth.content;

/// What stands in the place of a bad record's answer.
///
/// @param error what is wrong with the record
public record RecordError(String error) {}
