package dev.berth.handler.qa;

/// The windows through which a context of any length is read, each as large as the model has room for, overlapping so
/// that an answer at a border is whole in one of them. They are counted and never listed: a context may have a
/// million.
///
/// @param tokens the context's tokens
/// @param room the most tokens of a window
/// @param step how far the next window begins after the last
record Windows(int tokens, int room, int step) {

  /// @param room the most tokens of a window, at least 1
  /// @param stride the tokens that neighbouring windows share, cut to half of `room`
  static Windows over(int tokens, int room, int stride) {
    return new Windows(tokens, room, room - Math.min(stride, room / 2));
  }

  int count() {
    return tokens <= room ? 1 : 1 + Math.ceilDiv(tokens - room, step);
  }

  int start(int window) {
    return window * step;
  }

  int end(int window) {
    return (int) Math.min(tokens, (long) start(window) + room);
  }

  /// The tokens of all windows together; those that windows share count in each.
  long totalTokens() {
    return tokens + (count() - 1L) * (room - step);
  }
}
