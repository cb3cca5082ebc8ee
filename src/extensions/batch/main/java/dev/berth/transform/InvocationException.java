package dev.berth.transform;

import java.time.Duration;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.regex.Pattern;

/// A payload that the container did not answer, or answered with an error.
final class InvocationException extends RuntimeException {

    /// Bad Request, Content Too Large and Unprocessable Content.
    private static final Set<Integer> OF_THE_PAYLOAD = Set.of(400, 413, 422);

    private static final Pattern PLACE = Pattern.compile("^(line|row) (\\d{1,9}): ");

    /// Too Many Requests, Bad Gateway and Service Unavailable.
    private static final Set<Integer> TRANSIENT = Set.of(429, 502, 503);

    /// Why there is no answer.
    enum Kind {
        /// There is one, with a status.
        REFUSED,
        /// The request never got there.
        UNREACHABLE,
        /// The connection broke.
        LOST,
        /// It took too long.
        LATE
    }

    private final Kind kind;
    private final OptionalInt status;
    private final String reason;
    private final Optional<Duration> retryAfter;

    private InvocationException(
            Kind kind, OptionalInt status, String reason, Optional<Duration> retryAfter, Throwable cause) {
        super(message(status, reason), cause);
        this.kind = kind;
        this.status = status;
        this.reason = reason;
        this.retryAfter = retryAfter;
    }

    /// @param retryAfter how long it asks to be left alone
    static InvocationException refused(int status, String reason, Optional<Duration> retryAfter) {
        return new InvocationException(Kind.REFUSED, OptionalInt.of(status), reason, retryAfter, null);
    }

    static InvocationException unanswered(Kind kind, String reason, Throwable cause) {
        return new InvocationException(kind, OptionalInt.empty(), reason, Optional.empty(), cause);
    }

    private static String message(OptionalInt status, String reason) {
        if (status.isEmpty()) {
            return reason;
        }
        return "status " + status.getAsInt() + (reason.isEmpty() ? "" : ": " + reason);
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

    /// Whether it is one of the payload's records that the container does not want.
    boolean isOfThePayload() {
        return status.isPresent() && OF_THE_PAYLOAD.contains(status.getAsInt());
    }

    OptionalInt status() {
        return status;
    }

    Optional<Duration> retryAfter() {
        return retryAfter;
    }

    /// Whether the container does not take requests at the moment, whatever is in them.
    boolean isTransient() {
        return kind == Kind.UNREACHABLE || (status.isPresent() && TRANSIENT.contains(status.getAsInt()));
    }

    /// Whether nothing is known of the payload: the container was not there, or went away.
    boolean saysNothingOfThePayload() {
        return isTransient() || kind == Kind.LOST;
    }

    /// Whether the same payload may be answered at another time.
    boolean isRetryable() {
        return kind != Kind.REFUSED || isTransient() || status.getAsInt() >= 500;
    }
}
