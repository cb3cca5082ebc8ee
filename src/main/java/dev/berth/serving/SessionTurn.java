package dev.berth.serving;

import java.util.function.BooleanSupplier;

/// A request's turn in a session: until it is closed, no other request of the session runs, and the
/// session stays open. May be used by any thread.
public interface SessionTurn extends AutoCloseable {

  /// The session's name, for its caller.
  String id();

  /// When the session ends unless it is used before, as SageMaker's header has it:
  /// `2026-01-31T12:00:00Z`.
  String expires();

  /// What the hook made for the session.
  Object value();

  /// Says how to find out whether a hook still works for the request.
  void lastsWhile(BooleanSupplier hooksAreInside);

  /// Ends the session, when this turn and those that others wait for are over. It may be called
  /// after [#close].
  void end();

  /// Ends the session that was opened for a request which has failed: its caller does not know of
  /// it.
  void fail();

  /// Ends the turn. Where a hook still works for the request, it ends when the hook does.
  @Override
  void close();
}
