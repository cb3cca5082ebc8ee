package dev.berth.serving;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;

/// What a client speaks where hooks don't: makes its request one that the hooks read, and their
/// response one that it reads.
///
/// Both run on a thread for hooks, in the time and the memory of the request. Made for one request.
public interface Dialect {

    /// Of clients that speak as the hooks do.
    Dialect NONE = new Dialect() {};

    /// Called before `inputFn`.
    ///
    /// @throws dev.berth.hooks.BadInputException and the other exceptions of hooks, which mean what
    ///   they mean there
    default InvocationRequest request(InvocationRequest asked) throws Exception {
        return asked;
    }

    /// Called after `outputFn`.
    default InvocationResponse response(InvocationResponse answer) throws Exception {
        return answer;
    }
}
