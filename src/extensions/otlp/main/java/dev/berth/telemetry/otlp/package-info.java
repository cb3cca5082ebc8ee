/// Sends traces, metrics and logs to a collector, by the SDK of OpenTelemetry.
///
/// Nothing else in the server touches that SDK, and no class of it is loaded where nothing is sent.
/// Whatever is sent waits in the SDK's bounded queues and leaves on the SDK's own threads, so a
/// request never waits for a collector.
package dev.berth.telemetry.otlp;
