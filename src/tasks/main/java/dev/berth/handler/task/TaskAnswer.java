package dev.berth.handler.task;

import dev.berth.content.ContentType.OfDocuments;
import dev.berth.content.ContentTypes;
import dev.berth.content.Instances;
import dev.berth.content.RecordError;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import java.io.IOException;
import java.util.List;

/// What became of one record: its answer, or why it has none.
public sealed interface TaskAnswer {

    /// The answer as plain Java, as it is written as JSON, such as a `float[]` of an embedding.
    ///
    /// @throws BadInputException where there is none, with what was wrong with the record
    Object document();

    /// @param document plain Java, as it is written as JSON
    /// @param alone whether the record came as the only input of a body
    record Answered(Object document, boolean alone) implements TaskAnswer {}

    /// @param message what was wrong with the record
    record Rejected(String message) implements TaskAnswer {
        @Override
        public Object document() {
            throw new BadInputException(message);
        }
    }

    /// Writes answers as the request asks: a list, or the answer of an input alone.
    ///
    /// @param columns of an answer as CSV
    static InvocationResponse write(List<TaskAnswer> answers, List<String> columns, InvocationRequest request)
            throws IOException {
        boolean alone = answers.size() == 1 && answers.getFirst() instanceof Answered(var _, var one) && one;
        var documents = answers.stream()
                .map(answer -> switch (answer) {
                    case Answered(var document, var _) -> document;
                    case Rejected(var message) -> new RecordError(message);
                })
                .toList();
        return ContentTypes.writing(request, OfDocuments.class)
                .writeDocuments(documents, columns, alone ? Instances.Form.ONE : Instances.Form.LIST, request.accept());
    }
}
