package dev.berth.content;

import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import java.util.List;

/// A handler whose hooks take less for some requests than it takes to hand these over to another thread.
/// They run on the request's own thread then, which no deadline interrupts: what is short must end
/// soon, whatever a caller has written.
public interface InlineHooks<M, I, O> extends InferenceHandler<M, I, O> {

    /// Whether `inputFn`, `split` and `length` are short.
    ///
    /// @param request whose body is there as a whole, and was not read
    boolean isInputShort(InvocationRequest request);

    /// Whether `join` and `outputFn` are.
    ///
    /// @param predictions of all pieces
    boolean isOutputShort(List<O> predictions);
}
