import dev.berth.content.Documents;
import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.handler.task.Labels;
import dev.berth.handler.task.TaskRecord;
import dev.berth.handler.text.TextClassificationHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;

/// The ready task with the body and the answer of `inference.py`.
public final class Inference extends TextClassificationHandler {

    public Inference(Path modelDirectory) {
        super(modelDirectory);
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON);
    }

    @Override
    protected Documents documents(InvocationRequest request) throws IOException {
        return new Documents.Body(
                Fields.of(Json.read(request), "body", List.of("text")).json("text"));
    }

    /// The probabilities in the order of the labels.
    @Override
    protected Object answer(TaskRecord<EncodedText, Parameters> record, float[] output) {
        return record.parameters().function().of(output);
    }

    @Override
    public InvocationResponse outputFn(List<Object> answers, InvocationRequest request) {
        var probabilities = answers.stream().map(float[].class::cast).toList();
        var answer = new LinkedHashMap<String, Object>();
        answer.put("labels", probabilities.stream().map(this::likeliest).toList());
        answer.put("probabilities", probabilities);
        return InvocationResponse.of(Json.write(answer), request.accept());
    }

    private String likeliest(float[] probabilities) {
        return Labels.best(artifact().header().tensors().labels(), probabilities, 1)
                .getFirst()
                .label();
    }
}
