package dev.berth.hooks;

/// What a hook throws to choose the caller's status. Anything else that a hook throws is the
/// server's fault: 500.
///
/// The message goes to the caller, so it says which field or line is wrong, what was found and what
/// was expected, and holds nothing secret. Messages are cut to the 2048 characters that SageMaker
/// hands on.
public abstract sealed class HookException extends RuntimeException
        permits BadInputException,
                UnsupportedMediaTypeException,
                NotAcceptableException,
                InsufficientMemoryException,
                ModelUnusableException {

    HookException(String message, Throwable cause) {
        super(message, cause);
    }
}
