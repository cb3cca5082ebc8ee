package dev.berth.content;

import java.io.IOException;
import java.util.List;

/// A content type that holds objects with named fields, one or several for each record.
public interface DocumentWriter extends ContentType {

  /// Writes the answers to the records of a request.
  ///
  /// @param documents for each record an object or a list of objects, as plain Java, or a [RecordError]
  /// @param fields the fields of an object, in the order of columns
  /// @param form how the records were written
  byte[] writeDocuments(List<?> documents, List<String> fields, Instances.Form form) throws IOException;
}
