/// libtorch through DJL, which nothing outside this package touches: from a file to a loaded model, from arrays to arrays,
/// from text to tokens.
///
/// It knows nothing of questions, batches or HTTP. A model runs on the worker's thread that asks, and where it has several
/// cores of a CPU on a team's, for which the worker waits ([CoreShares], [CoreTeam]).
package dev.berth.engine.torch;
