package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import java.io.IOException;
import java.util.List;

/// A content type whose records can be objects with named fields.
public interface DocumentReader extends ContentType {

  /// Reads the records of a request.
  ///
  /// @param fields the fields that a record should have, in lower case, for a type whose records may not name theirs
  /// @throws BadInputException when the payload is empty or broken
  Documents readDocuments(InvocationRequest request, List<String> fields) throws IOException;
}
