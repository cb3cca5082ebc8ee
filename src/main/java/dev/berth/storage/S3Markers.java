package dev.berth.storage;

import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Optional;
import java.util.function.Predicate;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// Markers in S3, written on a condition. A server that does not know conditions is asked before
/// and after: of two that write at the same instant, the last one counts.
///
/// @param client that of the store
record S3Markers(S3Client client) {

  private static final int NOT_FOUND = 404;
  private static final int CONFLICT = 409;
  private static final int PRECONDITION_FAILED = 412;
  private static final int NOT_IMPLEMENTED = 501;

  Optional<Marker> find(Location.S3 location) {
    return S3Errors.naming(
        location,
        () -> {
          try {
            // Read within the client's attempts, so an answer that breaks off is asked for again.
            var in =
                client.getObjectAsBytes(
                    request -> request.bucket(location.bucket()).key(location.key()));
            // Both are S3's own, in whole seconds.
            var now =
                in.response()
                    .sdkHttpResponse()
                    .firstMatchingHeader("Date")
                    .map(
                        date ->
                            ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME)
                                .toInstant())
                    .orElseGet(Instant::now);
            var age = Duration.between(in.response().lastModified(), now);
            return Optional.of(
                new Marker(
                    in.asUtf8String(),
                    in.response().eTag(),
                    age.isNegative() ? Duration.ZERO : age));
          } catch (S3Exception e) {
            if (e.statusCode() == NOT_FOUND && !S3Errors.isNoSuchBucket(e)) {
              return Optional.empty();
            }
            throw e;
          }
        });
  }

  boolean mark(Location.S3 location, String text) {
    return put(location, text, PutObjectRequest.builder().ifNoneMatch("*"), Optional::isEmpty);
  }

  boolean replace(Location.S3 location, String text, Marker found) {
    return put(
        location,
        text,
        PutObjectRequest.builder().ifMatch(found.version()),
        now -> now.filter(marker -> marker.version().equals(found.version())).isPresent());
  }

  /// @param same whether what is there now is what has to be there
  private boolean put(
      Location.S3 location,
      String text,
      PutObjectRequest.Builder conditional,
      Predicate<Optional<Marker>> same) {
    return S3Errors.naming(
        location,
        () -> {
          try {
            client.putObject(
                conditional.bucket(location.bucket()).key(location.key()).build(),
                RequestBody.fromString(text));
            // A server may know conditions, and not look at them and write in one step.
            return says(location, text);
          } catch (S3Exception e) {
            return switch (e.statusCode()) {
              // The answer to an earlier attempt may have been lost.
              case NOT_FOUND, CONFLICT, PRECONDITION_FAILED -> says(location, text);
              case NOT_IMPLEMENTED -> putAnyway(location, text, same);
              default -> throw e;
            };
          }
        });
  }

  private boolean putAnyway(Location.S3 location, String text, Predicate<Optional<Marker>> same) {
    if (!same.test(find(location))) {
      return false;
    }
    client.putObject(
        request -> request.bucket(location.bucket()).key(location.key()),
        RequestBody.fromString(text));
    return says(location, text);
  }

  private boolean says(Location.S3 location, String text) {
    return find(location).filter(marker -> marker.text().equals(text)).isPresent();
  }
}
