package dev.berth.transform;

import com.fasterxml.jackson.databind.JsonNode;
import dev.berth.hooks.BadInputException;
import java.util.List;

/// How the records of a content type are read, joined and written. What nobody asked to change
/// stays as it was, to the last digit.
sealed interface RecordFormat permits CsvFormat, JsonFormat {

    /// @param text one record, without a newline at its end
    /// @throws BadInputException with what was found and expected
    JsonNode read(String text);

    /// The records in the text of several, each with the newline behind it.
    default List<String> records(String text) {
        return RecordProcessing.lines(text);
    }

    /// What `JoinSource=Input` makes of a record and its answer.
    JsonNode join(JsonNode input, JsonNode answer);

    /// What stands in the place of a bad record's answer.
    JsonNode error(String message);

    /// Whether an answer is such an error.
    boolean isError(JsonNode answer);

    /// A record as one line, without a newline at its end.
    String write(JsonNode record);
}
