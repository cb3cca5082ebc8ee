package dev.berth.storage.s3;

import dev.berth.storage.StorageException;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.function.IntFunction;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// The requests by which one object is written: one request, or an upload in parts, which virtual
/// threads send or have S3 copy. For one thread.
final class S3Upload {

    private static final String ANY_TYPE = "application/octet-stream";

    /// S3 copies some 100 MB a second for one request.
    private static final int PARTS_AT_ONCE = 8;

    private final S3Client client;
    private final S3Address object;
    private final String contentType;

    /// Parts travel with a CRC, where it is not null.
    private final ChecksumAlgorithm checksum;

    private final ExecutorService threads =
            Executors.newFixedThreadPool(PARTS_AT_ONCE, Thread.ofVirtual().factory());
    private final List<Future<CompletedPart>> parts = new ArrayList<>();

    /// Null until an upload in parts has begun.
    private String id;

    S3Upload(S3Connection connection, S3Address object, Optional<String> contentType) {
        this.client = connection.client();
        this.object = object;
        this.contentType = contentType.orElse(ANY_TYPE);
        this.checksum = connection.checksums() ? ChecksumAlgorithm.CRC32 : null;
    }

    /// Writes a whole object.
    void put(PartBuffer whole) {
        S3Errors.writing(
                object,
                () -> client.putObject(
                        request -> request.bucket(object.bucket())
                                .key(object.key())
                                .contentType(contentType),
                        body(whole)));
    }

    /// Begins an upload in parts.
    void begin() {
        id = S3Errors.writing(
                        object,
                        () -> client.createMultipartUpload(request -> request.bucket(object.bucket())
                                .key(object.key())
                                .contentType(contentType)
                                .checksumAlgorithm(checksum)))
                .uploadId();
    }

    /// Begins to send the next part, which must not change any more.
    void send(PartBuffer part) {
        add(number -> S3Errors.writing(object, () -> {
            var arrived = client.uploadPart(
                    request -> request.bucket(object.bucket())
                            .key(object.key())
                            .uploadId(id)
                            .partNumber(number)
                            .checksumAlgorithm(checksum),
                    body(part));
            return completed(number, arrived.eTag(), arrived.checksumCRC32());
        }));
    }

    /// Begins to have S3 copy the next part from another object.
    ///
    /// @param end the offset of the byte behind the last one
    void copy(S3Address source, long start, long end) {
        add(number -> S3Errors.naming(source, () -> {
            var copied = client.uploadPartCopy(request -> request.sourceBucket(source.bucket())
                            .sourceKey(source.key())
                            .copySourceRange("bytes=%d-%d".formatted(start, end - 1))
                            .destinationBucket(object.bucket())
                            .destinationKey(object.key())
                            .uploadId(id)
                            .partNumber(number))
                    .copyPartResult();
            return completed(number, copied.eTag(), copied.checksumCRC32());
        }));
    }

    private void add(IntFunction<CompletedPart> request) {
        int number = parts.size() + 1;
        parts.add(threads.submit(() -> request.apply(number)));
    }

    private static CompletedPart completed(int number, String tag, String checksum) {
        return CompletedPart.builder()
                .partNumber(number)
                .eTag(tag)
                .checksumCRC32(checksum)
                .build();
    }

    /// Waits until all parts have arrived that are on their way.
    List<CompletedPart> awaitArrival() {
        return parts.stream().map(this::arrived).toList();
    }

    private CompletedPart arrived(Future<CompletedPart> part) {
        try {
            return part.get();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw StorageException.retryable(object, "interrupted", e);
        } catch (ExecutionException e) {
            if (e.getCause() instanceof StorageException failure) {
                throw failure;
            }
            throw new IllegalStateException(e.getCause());
        }
    }

    /// Makes the object of its parts. Then all other uploads of this object are ended: those of earlier
    /// runs that were killed, those of others that write the same, and one of this call where the answer
    /// to an attempt to begin it was lost.
    void complete() {
        var arrived = awaitArrival();
        S3Errors.writing(object, () -> {
            try {
                return client.completeMultipartUpload(request -> request.bucket(object.bucket())
                        .key(object.key())
                        .uploadId(id)
                        .multipartUpload(upload -> upload.parts(arrived)));
            } catch (S3Exception e) {
                if (S3Errors.isNoSuchUpload(e) && consistsOf(arrived)) {
                    return null;
                }
                throw e;
            }
        });
        threads.shutdown();
        endOthers();
    }

    /// Ends the upload, and its parts with it. Where the answer to an attempt to begin it was lost, it
    /// is among the others.
    ///
    /// @param endsOthers whether those may be ended: nobody else writes the object
    void abort(boolean endsOthers) {
        if (id == null) {
            if (endsOthers) {
                endOthers();
            }
            return;
        }
        uninterrupted(() -> {
            // A part that arrives after the end would stay.
            threads.shutdownNow();
            threads.close();
            end(id);
        });
    }

    /// Ends an upload. One that is not there was complete, or another writer has ended it.
    private void end(String upload) {
        S3Errors.naming(object, () -> {
            try {
                client.abortMultipartUpload(request ->
                        request.bucket(object.bucket()).key(object.key()).uploadId(upload));
            } catch (S3Exception e) {
                if (!S3Errors.isNoSuchUpload(e)) {
                    throw e;
                }
            }
            return null;
        });
    }

    /// Whether the object consists of these parts: the answer to an earlier attempt to complete it
    /// was lost. Not known where the tag of one is no MD5, as with some encryptions.
    private boolean consistsOf(List<CompletedPart> arrived) {
        var there = client.headObject(request -> request.bucket(object.bucket()).key(object.key()));
        try {
            var digest = MessageDigest.getInstance("MD5");
            for (var part : arrived) {
                digest.update(HexFormat.of().parseHex(part.eTag().replace("\"", "")));
            }
            var own = "\"%s-%d\"".formatted(HexFormat.of().formatHex(digest.digest()), arrived.size());
            return own.equals(there.eTag());
        } catch (IllegalArgumentException | NoSuchAlgorithmException _) {
            return false;
        }
    }

    /// Ends all other uploads of this object, best effort: a caller that may write an object may not
    /// always list uploads, and not every server knows how.
    void endOthers() {
        uninterrupted(() -> {
            try {
                S3Errors.naming(
                                object,
                                () -> client
                                        .listMultipartUploadsPaginator(request -> request.bucket(object.bucket())
                                                .prefix(object.key())
                                                .encodingType(EncodingType.URL))
                                        .uploads()
                                        .stream()
                                        .filter(upload -> upload.key().equals(object.key()))
                                        .map(MultipartUpload::uploadId)
                                        .filter(other -> !other.equals(id))
                                        .toList())
                        .forEach(this::end);
            } catch (StorageException e) {
                // As said above.
            }
        });
    }

    /// Cleans up, also where the thread has been interrupted, as a job is cancelled by that. Then it
    /// is interrupted again.
    private static void uninterrupted(Runnable cleaning) {
        boolean interrupted = Thread.interrupted();
        try {
            cleaning.run();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private static RequestBody body(PartBuffer part) {
        return RequestBody.fromContentProvider(part::open, part.size(), ANY_TYPE);
    }
}
