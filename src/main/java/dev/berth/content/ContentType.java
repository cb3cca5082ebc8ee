package dev.berth.content;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import java.util.List;

/// What payloads are written in, such as JSON or NumPy's arrays. Immutable, so that all threads can use it.
///
/// The interfaces that it implements say what it is good for: [DocumentReader], [DocumentWriter], [TensorReader] and
/// [TensorWriter]. It need not write what it reads. To add one, write its class here and add a line to [ContentTypes].
public interface ContentType {

  /// Its names, without parameters. SageMaker's is the first.
  List<MediaType> mediaTypes();

  /// The endings of its files, such as `json` in `sample.json`.
  List<String> fileEndings();

  /// What splits a payload into records.
  default Framing framing() {
    return Framing.NONE;
  }

  /// Whether a bad record of the request becomes an error in its place. Only framed records can fail alone.
  default boolean keepsBadRecords(InvocationRequest request) {
    return request.keepBadRecords() && framing() != Framing.NONE;
  }
}
