package dev.berth.content;

import dev.berth.hooks.NotAcceptableException;
import java.io.IOException;

/// A content type that holds tensors.
public interface TensorWriter extends ContentType {

  /// Writes what the model made of a request's records. One output is written alone, several by their names.
  ///
  /// @throws NotAcceptableException when the type can't hold them
  byte[] writeTensors(TensorPredictions predictions) throws IOException;
}
