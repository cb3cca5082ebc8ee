package dev.berth.storage;

import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.stream.Stream;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/// The objects of S3, or of a server that speaks its protocol.
final class S3Store implements AutoCloseable {

  private final S3Client client;
  private final RetryPolicy retries;
  private final boolean checksums;

  S3Store(S3Options options) {
    this(options, options.endpoint().isEmpty());
  }

  S3Store(S3Options options, boolean checksums) {
    this.client = S3Clients.create(options, checksums);
    this.retries = options.retries();
    this.checksums = checksums;
  }

  Stream<StoredObject> list(Location.S3 prefix) {
    return Stream.iterate(page(prefix, null), Objects::nonNull, page -> pageAfter(prefix, page))
        .flatMap(page -> page.contents().stream())
        .filter(object -> !isDirectoryMarker(object))
        .map(
            object ->
                new StoredObject(
                    new Location.S3(
                        prefix.bucket(),
                        object.key(),
                        "s3://%s/%s".formatted(prefix.bucket(), object.key())),
                    key(prefix.key(), object.key()),
                    object.size()));
  }

  OptionalLong size(Location.S3 object) {
    if (object.key().isEmpty()) {
      return OptionalLong.empty();
    }
    return S3Errors.naming(
        object,
        () -> {
          try {
            var head =
                client.headObject(request -> request.bucket(object.bucket()).key(object.key()));
            return OptionalLong.of(head.contentLength());
          } catch (S3Exception e) {
            if (e.statusCode() == 404) {
              return OptionalLong.empty();
            }
            throw e;
          }
        });
  }

  ObjectStream open(Location.S3 object, long from) {
    requireKey(object, "read");
    return new S3Reader(client, object, retries, from);
  }

  ObjectWriter create(Location.S3 object, Optional<String> contentType) {
    requireKey(object, "written");
    return new S3Writer(new S3Uploads(client, object, contentType, checksums));
  }

  /// @return false where the server can't copy parts
  boolean join(List<StoredObject> parts, Location.S3 object, Optional<String> contentType) {
    requireKey(object, "written");
    return new S3Join(client, new S3Uploads(client, object, contentType, checksums), retries)
        .join(parts);
  }

  void delete(Location.S3 object) {
    S3Errors.naming(
        object,
        () -> client.deleteObject(request -> request.bucket(object.bucket()).key(object.key())));
  }

  S3Markers markers() {
    return new S3Markers(client);
  }

  void requireWritable(Location.S3 object) {
    new S3Uploads(client, object, Optional.empty(), checksums).begin().abort();
  }

  @Override
  public void close() {
    client.close();
  }

  private static void requireKey(Location.S3 object, String verb) {
    if (object.key().isEmpty()) {
      throw StorageException.permanent(
          object, "can't be %s: found a bucket, expected an object".formatted(verb));
    }
  }

  private ListObjectsV2Response pageAfter(Location.S3 prefix, ListObjectsV2Response page) {
    return page.isTruncated() ? page(prefix, page.nextContinuationToken()) : null;
  }

  /// @param token null for the first page
  private ListObjectsV2Response page(Location.S3 prefix, String token) {
    return S3Errors.naming(
        prefix,
        () ->
            client.listObjectsV2(
                request ->
                    request
                        .bucket(prefix.bucket())
                        .prefix(prefix.key())
                        .continuationToken(token)
                        // XML can't hold every character that a key may have.
                        .encodingType(EncodingType.URL)));
  }

  private static boolean isDirectoryMarker(S3Object object) {
    return object.key().endsWith("/") && object.size() == 0;
  }

  /// As [StoredObject] says.
  static String key(String prefix, String key) {
    var rest = key.substring(prefix.length());
    if (prefix.isEmpty() || prefix.endsWith("/")) {
      return rest;
    }
    return rest.startsWith("/") ? rest.substring(1) : key.substring(prefix.lastIndexOf('/') + 1);
  }
}
