package dev.berth.storage.s3;

import dev.berth.storage.Location;
import dev.berth.storage.Marker;
import dev.berth.storage.ObjectStream;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoreKind;
import dev.berth.storage.StoredObject;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Iterator;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Supplier;
import java.util.stream.Stream;
import software.amazon.awssdk.core.ResponseBytes;
import software.amazon.awssdk.core.sync.RequestBody;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.EncodingType;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;
import software.amazon.awssdk.services.s3.model.ListObjectsV2Response;
import software.amazon.awssdk.services.s3.model.PutObjectRequest;
import software.amazon.awssdk.services.s3.model.S3Exception;
import software.amazon.awssdk.services.s3.model.S3Object;

/// An object in a bucket, or a prefix of keys there.
///
/// Markers are written on a condition. A server that does not know conditions is asked before and
/// after: of two that write at the same instant, the last one counts.
///
/// @param key not percent-encoded; empty for the whole bucket
record S3Location(S3Connection connection, String bucket, String key, String text) implements Location {

    private static final int MOST_BYTES = 1024;

    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int PRECONDITION_FAILED = 412;
    private static final int NOT_IMPLEMENTED = 501;

    @Override
    public S3Location resolve(String child) {
        var below = key.isEmpty() ? child : StoreKind.below(key, child);
        int bytes = below.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MOST_BYTES) {
            throw StorageException.permanent(
                    this, "found a key of %d bytes below it, expected at most %d".formatted(bytes, MOST_BYTES));
        }
        return new S3Location(connection, bucket, below, StoreKind.below(text, child));
    }

    @Override
    public boolean isListedIn(Location prefix) {
        return prefix instanceof S3Location(var _, var other, var beginning, var _)
                && bucket.equals(other)
                && key.startsWith(beginning);
    }

    /// Where it ends within a name, whole names are keys.
    @Override
    public boolean mayRepeatKeys() {
        return !key.isEmpty() && !key.endsWith("/");
    }

    @Override
    public String toString() {
        return text;
    }

    @Override
    public Stream<StoredObject> list() {
        var pages = client().listObjectsV2Paginator(request -> request.bucket(bucket)
                        .prefix(key)
                        // XML can't hold every character that a key may have.
                        .encodingType(EncodingType.URL))
                .iterator();
        return Stream.iterate(page(pages), Objects::nonNull, _ -> page(pages))
                .flatMap(page -> page.contents().stream())
                .filter(object -> !isDirectoryMarker(object))
                .map(object -> new StoredObject(
                        new S3Location(connection, bucket, object.key(), "s3://%s/%s".formatted(bucket, object.key())),
                        key(key, object.key()),
                        object.size()));
    }

    @Override
    public OptionalLong size() {
        if (key.isEmpty()) {
            return OptionalLong.empty();
        }
        return ifThere(() ->
                        client().headObject(request -> request.bucket(bucket).key(key)))
                .map(head -> OptionalLong.of(head.contentLength()))
                .orElseGet(OptionalLong::empty);
    }

    @Override
    public ObjectStream open(long from) {
        requireKey("read");
        return new S3Reader(this, from);
    }

    @Override
    public ObjectWriter create(Optional<String> contentType) {
        requireKey("written");
        return new S3Writer(this, contentType);
    }

    @Override
    public void delete() {
        S3Errors.naming(
                this,
                () -> client().deleteObject(request -> request.bucket(bucket).key(key)));
    }

    @Override
    public void deleteAll() {
        // Without the slash it would be a beginning of other names too.
        try (var objects = new S3Location(connection, bucket, key + "/", text + "/").list()) {
            objects.forEach(object -> object.location().delete());
        }
    }

    @Override
    public Optional<Marker> marker() {
        // Read within the client's attempts, so an answer that breaks off is asked for again.
        return ifThere(() -> client().getObjectAsBytes(
                                request -> request.bucket(bucket).key(key)))
                .map(S3Location::marker);
    }

    private static Marker marker(ResponseBytes<GetObjectResponse> in) {
        // Both are S3's own, in whole seconds.
        var now = in.response()
                .sdkHttpResponse()
                .firstMatchingHeader("Date")
                .map(date -> ZonedDateTime.parse(date, DateTimeFormatter.RFC_1123_DATE_TIME)
                        .toInstant())
                .orElseGet(Instant::now);
        var age = Duration.between(in.response().lastModified(), now);
        return new Marker(in.asUtf8String(), in.response().eTag(), age.isNegative() ? Duration.ZERO : age);
    }

    /// Nothing where there is no such object.
    private <T> Optional<T> ifThere(Supplier<T> request) {
        return S3Errors.naming(this, () -> {
            try {
                return Optional.of(request.get());
            } catch (S3Exception e) {
                if (e.statusCode() == NOT_FOUND && !S3Errors.isNoSuchBucket(e)) {
                    return Optional.empty();
                }
                throw e;
            }
        });
    }

    @Override
    public boolean mark(String text, Optional<Marker> found) {
        var version = found.map(Marker::version);
        var request = PutObjectRequest.builder().bucket(bucket).key(key);
        return S3Errors.naming(this, () -> {
            try {
                client().putObject(
                                version.map(request::ifMatch)
                                        .orElseGet(() -> request.ifNoneMatch("*"))
                                        .build(),
                                RequestBody.fromString(text));
            } catch (S3Exception e) {
                switch (e.statusCode()) {
                    case NOT_FOUND, CONFLICT, PRECONDITION_FAILED -> {
                        // The answer to an earlier attempt may have been lost.
                    }
                    case NOT_IMPLEMENTED -> {
                        if (marker().map(Marker::version).equals(version)) {
                            client().putObject(put -> put.bucket(bucket).key(key), RequestBody.fromString(text));
                        }
                    }
                    default -> throw e;
                }
            }
            // A server may know conditions, and not look at them and write in one step.
            return marker().filter(marker -> marker.text().equals(text)).isPresent();
        });
    }

    private S3Client client() {
        return connection.client();
    }

    private void requireKey(String verb) {
        if (key.isEmpty()) {
            throw StorageException.permanent(this, "can't be %s: found a bucket, expected an object".formatted(verb));
        }
    }

    /// The next one; null at the end.
    private ListObjectsV2Response page(Iterator<ListObjectsV2Response> pages) {
        return S3Errors.naming(this, () -> pages.hasNext() ? pages.next() : null);
    }

    private static boolean isDirectoryMarker(S3Object object) {
        return object.key().endsWith("/") && object.size() == 0;
    }

    /// As [StoredObject] says.
    private static String key(String prefix, String key) {
        var rest = key.substring(prefix.length());
        if (prefix.isEmpty() || prefix.endsWith("/")) {
            return rest;
        }
        return rest.startsWith("/") ? rest.substring(1) : key.substring(prefix.lastIndexOf('/') + 1);
    }
}
