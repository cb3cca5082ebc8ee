/// Objects by their location, local files and S3 alike: list them, read them, write them so that
/// they appear only whole.
///
/// It knows nothing of what is in an object, of jobs or of models. A [StoreKind] is what a scheme
/// of URIs stands for. A [Storage] may be used by any threads; a stream or a writer that it gives
/// by one thread at a time.
package dev.berth.storage;
