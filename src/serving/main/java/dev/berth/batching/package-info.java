/// Records wait in a bounded queue, are put together into batches, and are predicted by workers.
///
/// Nothing here waits for predictions: the caller that submits records is told when they have ended,
/// on the thread that ended them. Each worker is one platform thread, which all models share and for which
/// each has a [dev.berth.batching.Predictor]. Where that is a [dev.berth.batching.StepPredictor],
/// records are predicted in steps and give parts. One lock, that of `WorkerPool`, guards all that
/// they share, and no foreign code runs under it. Of hooks the package knows what is published, and
/// nothing of HTTP or engines.
package dev.berth.batching;
