/// A served model: hooks, a batcher and a state.
///
/// It drives a request through the four hooks, says when the model can serve, and turns what hooks throw into the
/// server's own errors. It knows nothing of HTTP or of engines. Requests run on virtual threads, loading on the
/// thread that calls it.
package dev.berth.serving;
