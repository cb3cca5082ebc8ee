package dev.berth.handler.qa;

import dev.berth.content.ContentType.OfDocuments;
import dev.berth.content.ContentTypes;
import dev.berth.content.Instances;
import dev.berth.content.RecordError;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import java.io.IOException;
import java.util.List;

/// Puts answers into documents, whatever they are written in: an answer, a list of answers, or an
/// error for each record. In CSV that is the columns `answer,score,start,end`, again for each
/// further answer, without a header, as the platform joins rows by position.
final class AnswerWriter {

  private static final List<String> FIELDS = List.of("answer", "score", "start", "end");

  private AnswerWriter() {}

  static InvocationResponse write(List<QuestionAnswer> answers, InvocationRequest request)
      throws IOException {
    boolean alone =
        answers.size() == 1
            && answers.getFirst() instanceof QuestionAnswer.Answered(_, _, var one, _)
            && one;
    return ContentTypes.writing(request, OfDocuments.class)
        .writeDocuments(
            answers.stream().map(AnswerWriter::document).toList(),
            FIELDS,
            alone ? Instances.Form.ONE : Instances.Form.LIST,
            request.accept());
  }

  private static Object document(QuestionAnswer answer) {
    return switch (answer) {
      case QuestionAnswer.Answered(var answers, var listed, _, _) ->
          listed ? answers : answers.getFirst();
      case QuestionAnswer.Rejected(var message) -> new RecordError(message);
    };
  }
}
