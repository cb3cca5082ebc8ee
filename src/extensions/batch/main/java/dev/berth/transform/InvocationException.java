package dev.berth.transform;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.regex.Pattern;

/// A payload that the container did not answer, or answered with an error.
final class InvocationException extends RuntimeException {

    private static final Pattern PLACE = Pattern.compile("^(line|row) (\\d{1,9}): ");

    /// Why there is no answer.
    enum Fault {
        /// The container does not want one of the payload's records.
        OF_PAYLOAD,
        /// It does not want the request, whatever is in it.
        REFUSED,
        /// It failed.
        FAILED,
        /// It does not take requests at the moment, or can't be reached.
        AWAY,
        /// The connection broke.
        LOST,
        /// It took too long.
        LATE;

        private static Fault of(int status) {
            return switch (status) {
                case 400, 413, 422 -> OF_PAYLOAD;
                case 429, 502, 503 -> AWAY;
                default -> status < 500 ? REFUSED : FAILED;
            };
        }
    }

    private final Fault fault;
    private final OptionalInt status;
    private final String reason;
    private final Optional<Duration> retryAfter;

    /// @param retryAfter how long it asks to be left alone
    InvocationException(int status, String reason, Optional<Duration> retryAfter) {
        super(message(OptionalInt.of(status), reason));
        this.fault = Fault.of(status);
        this.status = OptionalInt.of(status);
        this.reason = reason;
        this.retryAfter = retryAfter;
    }

    /// Of a request that no answer came to.
    InvocationException(Fault fault, String reason, Throwable cause) {
        super(reason, cause);
        this.fault = fault;
        this.status = OptionalInt.empty();
        this.reason = reason;
        this.retryAfter = Optional.empty();
    }

    private static String message(OptionalInt status, String reason) {
        return status.isEmpty() ? reason : "status " + status.getAsInt() + (reason.isEmpty() ? "" : ": " + reason);
    }

    /// What it says, where the container's lines are counted from the payload's first record on.
    ///
    /// @param first the number of that record in its object
    String messageIn(long first) {
        return message(status, reasonIn(first));
    }

    /// What the container says of one record, with its number.
    ///
    /// @param number of the record in its object
    String reasonFor(long number) {
        var named = reasonIn(number);
        return PLACE.matcher(named).lookingAt() ? named : "line %d: %s".formatted(number, named);
    }

    private String reasonIn(long first) {
        return PLACE.matcher(reason)
                .replaceFirst(
                        place -> "%s %d: ".formatted(place.group(1), first - 1 + Integer.parseInt(place.group(2))));
    }

    Fault fault() {
        return fault;
    }

    OptionalInt status() {
        return status;
    }

    Optional<Duration> retryAfter() {
        return retryAfter;
    }

    /// Whether nothing is known of the payload: the container was not there, or went away.
    boolean saysNothingOfThePayload() {
        return fault == Fault.AWAY || fault == Fault.LOST;
    }

    /// Whether the same payload may be answered at another time.
    boolean isRetryable() {
        return fault != Fault.OF_PAYLOAD && fault != Fault.REFUSED;
    }
}
