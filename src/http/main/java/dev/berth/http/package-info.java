/// What the server answers, on Javalin and Jetty: what a protocol is, and SageMaker's contract as
/// the first one.
///
/// [dev.berth.http.Routes] finds every [dev.berth.http.Protocol] and registers its routes;
/// [dev.berth.http.Failures] turns every failure into a short body. It names no other protocol, and
/// knows nothing of batches, engines or questions. Each request runs on its own virtual thread from
/// its first byte to its last.
package dev.berth.http;
