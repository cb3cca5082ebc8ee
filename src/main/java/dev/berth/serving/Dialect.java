package dev.berth.serving;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;

/// What a client speaks where hooks don't: makes its request one that the hooks read, and their
/// response one that it reads.
///
/// Both run on a thread for hooks, in the time and the memory of the request. Made for one request.
public interface Dialect {

  /// Of clients that speak as the hooks do.
  Dialect NONE =
      new Dialect() {
        @Override
        public InvocationRequest request(InvocationRequest asked) {
          return asked;
        }

        @Override
        public InvocationResponse response(InvocationResponse answer) {
          return answer;
        }
      };

  /// Called before `inputFn`.
  ///
  /// @throws dev.berth.hooks.BadInputException and the other exceptions of hooks, which mean what
  ///   they mean there
  InvocationRequest request(InvocationRequest asked) throws Exception;

  /// Called after `outputFn`.
  InvocationResponse response(InvocationResponse answer) throws Exception;
}
