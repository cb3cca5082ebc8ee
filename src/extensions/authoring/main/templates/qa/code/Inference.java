import dev.berth.content.BadRecords;
import dev.berth.content.Json;
import dev.berth.handler.qa.Answer;
import dev.berth.handler.qa.QuestionAnsweringHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import java.nio.file.Path;
import java.util.List;

/// Answers questions as the built-in handler does, and says so where it is not sure of an answer.
///
/// One hook is changed; the others are the handler's: `inputFn` reads JSON, JSON Lines and CSV,
/// `predictFn` runs the model.
public final class Inference extends QuestionAnsweringHandler {

    private static final double SURE = 0.5;

    /// Records become JSON objects.
    record Answers(List<Object> answers) {}

    record Found(String answer, boolean sure) {}

    /// The server makes one of these, and gives it the directory of the model artifact.
    public Inference(Path modelDirectory) {
        super(modelDirectory);
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(MediaType.JSON);
    }

    /// Predictions of one request to bytes, one for each record in their order, on a thread for
    /// hooks.
    @Override
    public InvocationResponse outputFn(List<Object> answers, InvocationRequest request) {
        var values = BadRecords.inPlaces(answers, request).stream()
                .map(Inference::value)
                .toList();
        return InvocationResponse.of(Json.write(new Answers(values)), MediaType.JSON);
    }

    private static Object value(Object answer) {
        // Else a list, where the caller asks for several; or the error of a bad line, where the operator
        // keeps those: --bad-records keep.
        return answer instanceof Answer best ? new Found(best.answer(), best.score() >= SURE) : answer;
    }
}
