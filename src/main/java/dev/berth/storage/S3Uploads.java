package dev.berth.storage;

import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// The requests by which one object is written.
///
/// @param checksums whether parts travel with a CRC
record S3Uploads(
    S3Client client, Location.S3 location, Optional<String> contentType, boolean checksums) {

  private static final String ANY_TYPE = "application/octet-stream";

  /// Writes a whole object.
  void put(PartBuffer object) {
    S3Errors.writing(
        location,
        () ->
            client.putObject(
                request ->
                    request.bucket(location.bucket()).key(location.key()).contentType(type()),
                body(object)));
  }

  /// Begins an upload in parts.
  ///
  /// Then all others of this object are ended: of earlier runs that were killed, and of this call
  /// where the answer to an attempt was lost.
  S3Upload begin() {
    try {
      var id = beginBesideOthers();
      endOthers(id);
      return new S3Upload(this, id);
    } catch (StorageException e) {
      uninterrupted(() -> endOthers(""));
      throw e;
    }
  }

  /// Begins an upload in parts, and leaves others of this object alone.
  String beginBesideOthers() {
    return S3Errors.writing(
            location,
            () ->
                client.createMultipartUpload(
                    request ->
                        request
                            .bucket(location.bucket())
                            .key(location.key())
                            .contentType(type())
                            .checksumAlgorithm(checksum())))
        .uploadId();
  }

  /// Waits for a part that another thread sends.
  CompletedPart arrived(Future<CompletedPart> part) {
    try {
      return part.get();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw StorageException.retryable(location, "interrupted", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof StorageException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    }
  }

  /// @param number from 1
  CompletedPart putPart(String id, int number, PartBuffer part) {
    return S3Errors.writing(
        location,
        () -> {
          var arrived =
              client.uploadPart(
                  request ->
                      request
                          .bucket(location.bucket())
                          .key(location.key())
                          .uploadId(id)
                          .partNumber(number)
                          .checksumAlgorithm(checksum()),
                  body(part));
          return CompletedPart.builder()
              .partNumber(number)
              .eTag(arrived.eTag())
              .checksumCRC32(arrived.checksumCRC32())
              .build();
        });
  }

  /// Has S3 copy a part from another object.
  ///
  /// @param number from 1
  /// @param end the offset of the byte behind the last one
  CompletedPart copyPart(String id, int number, Location.S3 source, long start, long end) {
    return S3Errors.naming(
        source,
        () -> {
          var copied =
              client
                  .uploadPartCopy(
                      request ->
                          request
                              .sourceBucket(source.bucket())
                              .sourceKey(source.key())
                              .copySourceRange("bytes=%d-%d".formatted(start, end - 1))
                              .destinationBucket(location.bucket())
                              .destinationKey(location.key())
                              .uploadId(id)
                              .partNumber(number))
                  .copyPartResult();
          return CompletedPart.builder()
              .partNumber(number)
              .eTag(copied.eTag())
              .checksumCRC32(copied.checksumCRC32())
              .build();
        });
  }

  /// Makes the object of its parts.
  void complete(String id, List<CompletedPart> parts) {
    S3Errors.writing(
        location,
        () -> {
          try {
            return client.completeMultipartUpload(
                request ->
                    request
                        .bucket(location.bucket())
                        .key(location.key())
                        .uploadId(id)
                        .multipartUpload(upload -> upload.parts(parts)));
          } catch (S3Exception e) {
            if (S3Errors.isNoSuchUpload(e) && isThere(parts)) {
              return null;
            }
            throw e;
          }
        });
  }

  /// Ends an upload. One that is not there was complete, or another writer has ended it.
  void end(String id) {
    S3Errors.naming(
        location,
        () -> {
          try {
            client.abortMultipartUpload(
                request -> request.bucket(location.bucket()).key(location.key()).uploadId(id));
          } catch (S3Exception e) {
            if (!S3Errors.isNoSuchUpload(e)) {
              throw e;
            }
          }
          return null;
        });
  }

  /// Whether the object consists of these parts: the answer to an earlier attempt to complete it
  /// was lost.
  private boolean isThere(List<CompletedPart> parts) {
    var expected = PartsTag.of(parts.stream().map(CompletedPart::eTag).toList());
    return expected.isPresent()
        && expected
            .get()
            .equals(
                client
                    .headObject(request -> request.bucket(location.bucket()).key(location.key()))
                    .eTag());
  }

  /// As well as it goes: who may write an object may not always list uploads, and not every server
  /// knows how.
  void endOthers(String id) {
    try {
      S3Errors.naming(
              location,
              () ->
                  client
                      .listMultipartUploadsPaginator(
                          request ->
                              request
                                  .bucket(location.bucket())
                                  .prefix(location.key())
                                  .encodingType(EncodingType.URL))
                      .uploads()
                      .stream()
                      .filter(upload -> upload.key().equals(location.key()))
                      .map(MultipartUpload::uploadId)
                      .filter(other -> !other.equals(id))
                      .toList())
          .forEach(this::end);
    } catch (StorageException e) {
      // As said above.
    }
  }

  /// Cleans up, also where the thread has been interrupted, as a job is cancelled by that. Then it
  /// is interrupted again.
  static void uninterrupted(Runnable cleaning) {
    boolean interrupted = Thread.interrupted();
    try {
      cleaning.run();
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }

  /// Null for none.
  private ChecksumAlgorithm checksum() {
    return checksums ? ChecksumAlgorithm.CRC32 : null;
  }

  private static RequestBody body(PartBuffer part) {
    return RequestBody.fromContentProvider(part::open, part.size(), ANY_TYPE);
  }

  private String type() {
    return contentType.orElse(ANY_TYPE);
  }

  @Override
  public String toString() {
    return location.toString();
  }
}
