package dev.berth.storage.s3;

import dev.berth.storage.ObjectWriter;
import dev.berth.storage.StorageException;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Optional;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.ChecksumAlgorithm;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.MultipartUpload;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// Writes an object to S3: in one request where it fits in one part, else in parts, one of which is in
/// memory.
///
/// Parts grow: 8 MiB for the first thousand, 16 for the second and so on to 1 GiB, so that small
/// objects need little memory and the 10,000 parts that S3 takes reach to nearly 4 TiB.
///
/// Another process may write the same object at the same time. Neither ends the upload of the other
/// before its own is complete, so one of them succeeds.
final class S3Writer extends ObjectWriter {

    private static final String ANY_TYPE = "application/octet-stream";

    private static final int FIRST_PART_BYTES = 8 << 20;
    private static final int PARTS_OF_ONE_SIZE = 1000;
    private static final int MOST_DOUBLINGS = 7;

    private final S3Client client;
    private final S3Location object;
    private final String contentType;

    /// Parts travel with a CRC, where it is not null.
    private final ChecksumAlgorithm checksum;

    private final List<CompletedPart> parts = new ArrayList<>();
    private final PartBuffer gathered = new PartBuffer();

    /// Null until an upload in parts has begun.
    private String upload;

    /// The bytes of one part, which may be read as often as it must be sent. It begins small: most
    /// objects are small, and many are written at once.
    private static final class PartBuffer extends ByteArrayOutputStream {
        private PartBuffer() {
            super(1 << 14);
        }

        /// Nothing may be written while it is in use.
        private RequestBody body() {
            return RequestBody.fromContentProvider(() -> new ByteArrayInputStream(buf, 0, count), count, ANY_TYPE);
        }
    }

    S3Writer(S3Location object, Optional<String> contentType) {
        super(object);
        this.client = object.connection().client();
        this.object = object;
        this.contentType = contentType.orElse(ANY_TYPE);
        this.checksum = object.connection().checksums() ? ChecksumAlgorithm.CRC32 : null;
    }

    /// @param number from 1
    static int partBytes(int number) {
        return FIRST_PART_BYTES << Math.min((number - 1) / PARTS_OF_ONE_SIZE, MOST_DOUBLINGS);
    }

    @Override
    protected void append(byte[] bytes, int offset, int length) {
        for (int taken = 0; taken < length; ) {
            int most = partBytes(parts.size() + 1);
            if (gathered.size() == most) {
                send();
                continue;
            }
            int count = Math.min(length - taken, most - gathered.size());
            gathered.write(bytes, offset + taken, count);
            taken += count;
        }
    }

    /// Sends what is gathered as the next part.
    private void send() {
        int number = parts.size() + 1;
        if (upload == null) {
            upload = S3Errors.writing(
                            object,
                            () -> client.createMultipartUpload(request -> request.bucket(object.bucket())
                                    .key(object.key())
                                    .contentType(contentType)
                                    .checksumAlgorithm(checksum)))
                    .uploadId();
        }
        var arrived = S3Errors.writing(
                object,
                () -> client.uploadPart(
                        request -> request.bucket(object.bucket())
                                .key(object.key())
                                .uploadId(upload)
                                .partNumber(number)
                                .checksumAlgorithm(checksum),
                        gathered.body()));
        parts.add(CompletedPart.builder()
                .partNumber(number)
                .eTag(arrived.eTag())
                .checksumCRC32(arrived.checksumCRC32())
                .build());
        gathered.reset();
    }

    @Override
    protected void publish() {
        if (upload == null) {
            S3Errors.writing(
                    object,
                    () -> client.putObject(
                            request -> request.bucket(object.bucket())
                                    .key(object.key())
                                    .contentType(contentType),
                            gathered.body()));
            return;
        }
        if (gathered.size() > 0) {
            send();
        }
        complete();
        uninterrupted(this::endOthers);
    }

    private void complete() {
        S3Errors.writing(object, () -> {
            try {
                return client.completeMultipartUpload(request -> request.bucket(object.bucket())
                        .key(object.key())
                        .uploadId(upload)
                        .multipartUpload(whole -> whole.parts(parts)));
            } catch (S3Exception e) {
                if (S3Errors.isNoSuchUpload(e) && isComplete()) {
                    return null;
                }
                throw e;
            }
        });
    }

    /// Whether the object consists of these parts: the answer to an earlier attempt to complete it
    /// was lost. Not known where the tag of one is no MD5, as with some encryptions.
    private boolean isComplete() {
        var there = client.headObject(request -> request.bucket(object.bucket()).key(object.key()));
        try {
            var digest = MessageDigest.getInstance("MD5");
            for (var part : parts) {
                digest.update(HexFormat.of().parseHex(part.eTag().replace("\"", "")));
            }
            var own = "\"%s-%d\"".formatted(HexFormat.of().formatHex(digest.digest()), parts.size());
            return own.equals(there.eTag());
        } catch (IllegalArgumentException | NoSuchAlgorithmException _) {
            return false;
        }
    }

    /// Ends the upload, and its parts with it.
    @Override
    protected void discard() {
        if (upload != null) {
            uninterrupted(() -> end(upload));
        }
    }

    /// Ends an upload. One that is not there was complete, or another writer has ended it.
    private void end(String one) {
        S3Errors.naming(object, () -> {
            try {
                client.abortMultipartUpload(request ->
                        request.bucket(object.bucket()).key(object.key()).uploadId(one));
            } catch (S3Exception e) {
                if (!S3Errors.isNoSuchUpload(e)) {
                    throw e;
                }
            }
            return null;
        });
    }

    /// Ends all other uploads of this object: those of earlier runs that were killed, those of others that
    /// write the same, and those of this one whose begin was not answered. Best effort: a caller that may
    /// write an object may not always list uploads, and not every server knows how.
    private void endOthers() {
        try {
            S3Errors.naming(
                            object,
                            () -> client
                                    .listMultipartUploadsPaginator(request -> request.bucket(object.bucket())
                                            .prefix(object.key())
                                            .encodingType(EncodingType.URL))
                                    .uploads()
                                    .stream()
                                    .filter(other -> other.key().equals(object.key()))
                                    .map(MultipartUpload::uploadId)
                                    .filter(other -> !other.equals(upload))
                                    .toList())
                    .forEach(this::end);
        } catch (StorageException e) {
            // As said above.
        }
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
}
