package dev.berth.testing;

import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import java.io.IOException;
import java.util.List;
import java.util.function.BiFunction;

/// The smallest handler: every line of the body is a record, and its prediction is the line in
/// upper case. Tests override the hook that they are about.
public class TextHandler implements InferenceHandler<Object, String, String> {

    /// What is done first in a hook, with its records or predictions, and with nothing in `modelFn`.
    protected void enter(String hook, List<String> lines) {}

    @Override
    public Object modelFn(ModelContext context) throws Exception {
        enter("modelFn", List.of());
        return this;
    }

    @Override
    public List<String> inputFn(InvocationRequest request) throws IOException {
        var records = request.text().lines().toList();
        enter("inputFn", records);
        return records;
    }

    @Override
    public List<String> predictFn(List<String> records, Object model) throws Exception {
        enter("predictFn", records);
        return records.stream().map(String::toUpperCase).toList();
    }

    @Override
    public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) throws IOException {
        enter("outputFn", predictions);
        return InvocationResponse.of(String.join("\n", predictions), request.accept());
    }

    /// What a test makes of a request.
    public interface Reader {
        List<String> read(InvocationRequest request) throws IOException;
    }

    /// A handler with another `inputFn`.
    public static TextHandler reading(Reader reader) {
        return new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) throws IOException {
                return reader.read(request);
            }
        };
    }

    /// A handler with another `outputFn`.
    public static TextHandler writing(BiFunction<List<String>, InvocationRequest, InvocationResponse> writer) {
        return new TextHandler() {
            @Override
            public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
                return writer.apply(predictions, request);
            }
        };
    }

    /// A handler whose answer is what a test makes of a request, as it is.
    public static TextHandler answering(Reader reader) {
        return new TextHandler() {
            @Override
            public List<String> inputFn(InvocationRequest request) throws IOException {
                return reader.read(request);
            }

            @Override
            public List<String> predictFn(List<String> records, Object model) {
                return records;
            }
        };
    }

    /// What a test does in a hook.
    public interface Deed {
        void with(List<String> lines) throws Throwable;
    }

    /// A handler in one of whose hooks something is done first. What that throws the hook throws.
    public static TextHandler before(String before, Deed deed) {
        return new TextHandler() {
            @Override
            protected void enter(String hook, List<String> lines) {
                try {
                    if (hook.equals(before)) {
                        deed.with(lines);
                    }
                } catch (Throwable e) {
                    TextHandler.<RuntimeException>sneak(e);
                }
            }
        };
    }

    @SuppressWarnings("unchecked")
    private static <E extends Throwable> void sneak(Throwable thrown) throws E {
        throw (E) thrown;
    }

    /// The type of plain lines, for requests that name one.
    public static final String TEXT = MediaType.TEXT.toString();
}
