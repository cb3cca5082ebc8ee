/// What the server answers, on Javalin and Jetty: SageMaker's contract, the Open Inference Protocol
/// with Triton's extensions over HTTP and gRPC.
///
/// `dev.berth.http.Route` lists every route; [dev.berth.http.Failures] turns every failure into a
/// short JSON body. [dev.berth.http.RuntimeApi] stands in front of them where SDKs ask as they ask
/// SageMaker. It knows nothing of batches, engines or questions. Each request runs on its own
/// virtual thread from its first byte to its last.
package dev.berth.http;
