/// SageMaker's HTTP contract on Javalin: `/ping`, `/invocations`, `/execution-parameters` and
/// `/metrics`.
///
/// `dev.berth.http.Route` lists every route; [dev.berth.http.Failures] turns every failure into a
/// short JSON body. [dev.berth.http.RuntimeApi] stands in front of them where SDKs ask as they ask
/// SageMaker. It knows nothing of batches, engines or questions. Each request runs on its own
/// virtual thread from its first byte to its last.
package dev.berth.http;
