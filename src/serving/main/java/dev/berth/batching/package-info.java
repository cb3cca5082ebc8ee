/// Records wait in a bounded queue, are put together into batches, and are predicted by workers.
///
/// Nothing here waits for predictions: the caller that submits records is told when they have ended,
/// on the thread that ended them. A model has a worker with a [dev.berth.batching.Predictor] for each place
/// of an accelerator, and the workers of all models take turns on the same threads. Where the predictor is a
/// [dev.berth.batching.Predictor.InSteps], records are predicted in steps and give parts. Each model has one
/// lock, that of its `Batcher`, and no foreign code runs under it. Of hooks the package knows what is published, and
/// nothing of HTTP or engines.
package dev.berth.batching;
