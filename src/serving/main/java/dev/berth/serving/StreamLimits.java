package dev.berth.serving;

import java.time.Duration;

/// How answers may leave part by part. Until its first part, the request's own deadline holds.
///
/// @param part the time from one part to the next, whether the model or the reader takes so long
/// @param whole the time from the request's arrival to the last part
/// @param isSocket whether each part is a frame of a WebSocket: then all answers that can leave in
///   parts do, without anything around the parts
public record StreamLimits(Duration part, Duration whole, boolean isSocket) {}
