package dev.berth.engine.onnx;

import ai.onnxruntime.OrtException;
import ai.onnxruntime.OrtException.OrtErrorCode;
import dev.berth.engine.EngineException;
import dev.berth.engine.InvalidInputException;
import dev.berth.hooks.InsufficientMemoryException;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// What a failure of ONNX Runtime means.
final class OnnxFailure {

    private static final Pattern OUT_OF_MEMORY =
            Pattern.compile("bad_alloc|(?i:out of memory|failed to allocate memory)");

    /// The words with which operators refuse tensors: "left operand cannot broadcast on dim 1",
    /// "indices element out of data bounds".
    private static final Pattern ABOUT_INPUTS = Pattern.compile(
            "(?i)\\b(sizes?|shapes?|dims?|dimensions?|rank|axis|elements?|broadcast|index|indices|range|bounds|inputs?|incompatible|mismatch|zero|overflow)\\b");

    /// What an exception begins with, and where in ONNX Runtime's sources it comes from.
    private static final Pattern PLACE = Pattern.compile(
            "^Error code - \\w+ - message: |Load model from .* failed:|\\[ONNXRuntimeError] : \\d+ : \\w+ : "
                    + "|Exception during \\w+: |/\\S+:\\d+ [^)]*\\)\\S*(?: const)? |\\w+\\.(?:cc|h):\\d+ \\w+(?:\\(\\))? ");

    private static final Pattern NODE =
            Pattern.compile("Non-zero status code returned while running (\\w+) node\\. Name:'(.*?)' Status Message: ");

    private static final int MAX_LENGTH = 500;

    private OnnxFailure() {}

    static RuntimeException of(OrtException e) {
        var message = line(e);
        if (OUT_OF_MEMORY.matcher(message).find()) {
            return new InsufficientMemoryException("there is no memory left for this batch: " + message, e);
        }
        var failed = "the model failed: " + message;
        return e.getCode() == OrtErrorCode.ORT_INVALID_ARGUMENT
                        || ABOUT_INPUTS.matcher(message).find()
                ? new InvalidInputException(failed, e)
                : new EngineException(failed, e);
    }

    static boolean isShortage(Throwable e) {
        return OUT_OF_MEMORY.matcher(line(e)).find();
    }

    /// ONNX Runtime's text in one line, without where in its sources it comes from.
    static String line(Throwable e) {
        var text = PLACE.matcher(String.valueOf(e.getMessage())).replaceAll("");
        var line = NODE.matcher(text)
                .replaceAll("$1 \"$2\": ")
                .lines()
                .map(String::strip)
                .filter(part -> !part.isEmpty())
                .collect(Collectors.joining(" "));
        return line.length() <= MAX_LENGTH ? line : line.substring(0, MAX_LENGTH) + "…";
    }
}
