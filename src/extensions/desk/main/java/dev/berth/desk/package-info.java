/// SageMaker Runtime's API in front of the container's own paths, for boto3 at a desk. And
/// asynchronous invocations, as SageMaker's asynchronous endpoints have them: each is accepted at
/// once, waits in a bounded queue, has its input read from an object and its answer written to
/// another.
///
/// It asks the container by HTTP, as the platform does, so all that holds for `/invocations` holds
/// here. It must not know of hooks or models. Virtual threads run it.
package dev.berth.desk;
