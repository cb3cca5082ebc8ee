package dev.berth.serving;

import java.time.Duration;

/// How long an answer may take that leaves part by part. Until its first part, the request's own deadline holds.
///
/// @param part from one part to the next, whether the model or the reader takes so long
/// @param whole from the request's arrival to the last part
public record StreamLimits(Duration part, Duration whole) {}
