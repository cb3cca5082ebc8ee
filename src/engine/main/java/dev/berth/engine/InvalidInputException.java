package dev.berth.engine;

/// The graph refuses the tensors of this forward: their number, a shape, an element type or a
/// value. With other tensors it may succeed.
public final class InvalidInputException extends EngineException {

    public InvalidInputException(String message, Throwable cause) {
        super(message, cause);
    }
}
