package dev.berth.engine.torch;

import dev.berth.engine.EngineException;
import dev.berth.engine.InvalidInputException;
import dev.berth.hooks.InsufficientMemoryException;
import dev.berth.hooks.ModelUnusableException;
import java.util.regex.Pattern;

/// What the failure of a forward means. DJL reports all of them as one type of exception, so
/// libtorch's text is all there is to tell them apart by.
final class TorchFailure {

    private static final Pattern OUT_OF_MEMORY =
            Pattern.compile("out of memory|can't allocate memory|not enough memory|ALLOC_FAILED|std::bad_alloc");

    private static final Pattern DEVICE_FAILED = Pattern.compile("CUDA error|NRT|nrt_");

    /// What no other input would mend: a bug in libtorch, an operator or a device that this build
    /// does not have, tensors of the model on another device, a parameter that takes no tensor.
    private static final Pattern OWN =
            Pattern.compile("INTERNAL ASSERT|Expected a value of type|NotImplementedError|Could not run"
                    + " '|CUDA|(?i:\\b(devices?|file|library)\\b)");

    /// `builtins.ValueError: …`, `torch.jit.Error: …`: a `raise` or an `assert` in the model's code.
    /// What an operator throws is a `RuntimeError` without a package.
    private static final Pattern RAISED_BY_THE_MODEL = Pattern.compile("^\\w+(\\.\\w+)+: ");

    /// The words with which libtorch refuses tensors: "mat1 and mat2 shapes cannot be multiplied",
    /// "index out of range in self", "expected scalar type Float but found Long", "forward() is
    /// missing value for argument 'right'".
    private static final Pattern ABOUT_INPUTS = Pattern.compile(
            "(?i)\\b(sizes?|shapes?|dims?|dimensions?|dimensionality|rank|strides?|channels|elements?|numel|types?|dtypes?|not"
                    + " implemented for"
                    + " '|convert(ed)?|cast|index|indices|range|bounds|values?|empty|inputs?|arguments?|expected"
                    + " .*(got|found))\\b");

    private static final int MAX_LENGTH = 500;

    private TorchFailure() {}

    static RuntimeException of(ai.djl.engine.EngineException e) {
        var message = message(e);
        if (isShortage(e)) {
            return new InsufficientMemoryException("the accelerator has no memory left for this batch: " + message, e);
        }
        if (DEVICE_FAILED.matcher(message).find()) {
            return new ModelUnusableException("the accelerator has failed: " + message, e);
        }
        var failed = "the model failed: " + message;
        return isAboutInputs(message) ? new InvalidInputException(failed, e) : new EngineException(failed, e);
    }

    static boolean isShortage(Exception e) {
        return OUT_OF_MEMORY.matcher(message(e)).find();
    }

    /// Whether an accelerator or the host has failed, or has no memory.
    static boolean isOfDevice(Exception e) {
        return isShortage(e) || DEVICE_FAILED.matcher(message(e)).find();
    }

    private static boolean isAboutInputs(String message) {
        return !OWN.matcher(message).find()
                && (RAISED_BY_THE_MODEL.matcher(message).find()
                        || ABOUT_INPUTS.matcher(message).find());
    }

    /// The useful line of libtorch's text, which is a TorchScript traceback of many kilobytes: the
    /// last one that names an error, else the first that says anything.
    static String message(Throwable e) {
        var lines = String.valueOf(e.getMessage())
                .lines()
                .map(String::strip)
                .filter(line -> !line.isEmpty())
                .toList();
        var line = lines.reversed().stream()
                .filter(l -> l.contains("Error:") || l.contains("error:") || l.contains("memory"))
                .findFirst()
                .orElse(
                        lines.isEmpty()
                                ? e.getClass().getSimpleName()
                                : lines.getFirst().replaceFirst(":$", ""));
        return line.length() <= MAX_LENGTH ? line : line.substring(0, MAX_LENGTH) + "…";
    }
}
