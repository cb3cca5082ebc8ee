package dev.berth.testing;

import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import java.io.IOException;
import java.util.List;

/// The smallest handler: every line of the body is a record, and its prediction is the line in
/// upper case. Tests override the hook that they are about.
public class TextHandler implements InferenceHandler<Object, String, String> {

    @Override
    public Object modelFn(ModelContext context) throws Exception {
        return this;
    }

    @Override
    public List<String> inputFn(InvocationRequest request) throws IOException {
        return request.text().lines().toList();
    }

    @Override
    public List<String> predictFn(List<String> records, Object model) throws Exception {
        return records.stream().map(String::toUpperCase).toList();
    }

    @Override
    public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) throws IOException {
        return InvocationResponse.of(String.join("\n", predictions), request.accept());
    }

    /// The type of plain lines, for requests that name one.
    public static final String TEXT = MediaType.TEXT.toString();
}
