/// Records wait in a bounded queue, are put together into batches, and are predicted by workers.
///
/// Requests wait on their own virtual threads; each worker is one platform thread that opens, uses and closes its own
/// [dev.berth.batching.Predictor]. One lock, in `BatchQueue`, guards all that they share; it has two kinds of
/// condition (records to take, one request's end), and no foreign code runs under it: neither a predictor nor the
/// question whether a caller has gone. The package knows nothing of HTTP, hooks or engines.
package dev.berth.batching;
