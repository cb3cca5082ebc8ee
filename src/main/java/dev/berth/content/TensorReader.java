package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.UnsupportedMediaTypeException;
import java.io.IOException;

/// A content type whose records can be tensors.
public interface TensorReader extends ContentType {

  /// Reads the records of a request.
  ///
  /// @throws BadInputException when the payload is empty or broken
  /// @throws UnsupportedMediaTypeException when the type can't hold so many inputs
  TensorRecords readTensors(InvocationRequest request, TensorInputs inputs) throws IOException;
}
