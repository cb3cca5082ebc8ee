/// The trace of a request, as the parts on its way see it: interfaces, and constants for a server
/// that sends none.
///
/// It knows no tracing library, and nothing of HTTP, queues or models. With tracing off, every
/// method does nothing and allocates nothing. Every method may be called from every thread, and
/// none blocks.
package dev.berth.telemetry;
