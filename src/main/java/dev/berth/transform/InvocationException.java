package dev.berth.transform;

import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;

/// A payload that the container did not answer, or answered with an error.
final class InvocationException extends RuntimeException {

  /// Bad Request, Content Too Large and Unprocessable Content.
  private static final Set<Integer> OF_THE_PAYLOAD = Set.of(400, 413, 422);
  private static final Pattern PLACE = Pattern.compile("^(line|row) (\\d{1,9}): ");

  private final OptionalInt status;
  private final String reason;

  /// @param status of the answer; empty: there was none
  /// @param reason what the container says, or what became of the request
  InvocationException(OptionalInt status, String reason, Throwable cause) {
    super(message(status, reason), cause);
    this.status = status;
    this.reason = reason;
  }

  private static String message(OptionalInt status, String reason) {
    if (status.isEmpty()) {
      return reason;
    }
    return "status " + status.getAsInt() + (reason.isEmpty() ? "" : ": " + reason);
  }

  /// The same where the container's lines are counted from the payload's first record on.
  ///
  /// @param first the number of that record in its object
  InvocationException inObject(long first) {
    return new InvocationException(status, PLACE.matcher(reason).replaceFirst(place ->
        "%s %d: ".formatted(place.group(1), first - 1 + Integer.parseInt(place.group(2)))), this);
  }

  String reason() {
    return reason;
  }

  /// Whether it is one of the payload's records that the container does not want.
  boolean isOfThePayload() {
    return status.isPresent() && OF_THE_PAYLOAD.contains(status.getAsInt());
  }

  OptionalInt status() {
    return status;
  }

  /// Whether the same payload may be answered at another time.
  boolean isRetryable() {
    return status.isEmpty() || status.getAsInt() == 429 || status.getAsInt() >= 500;
  }
}
