package dev.berth.storage.s3;

import dev.berth.storage.Marker;
import dev.berth.storage.ObjectStore;
import dev.berth.storage.ObjectStream;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.time.Duration;
import java.time.Instant;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.function.Predicate;
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

/// The objects of S3, or of a server that speaks its protocol.
///
/// Markers are written on a condition. A server that does not know conditions is asked before and
/// after: of two that write at the same instant, the last one counts.
final class S3Store implements ObjectStore<S3Location> {

    private static final int NOT_FOUND = 404;
    private static final int CONFLICT = 409;
    private static final int PRECONDITION_FAILED = 412;
    private static final int NOT_IMPLEMENTED = 501;

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

    @Override
    public Stream<StoredObject> list(S3Location prefix) {
        return Stream.iterate(page(prefix, null), Objects::nonNull, page -> pageAfter(prefix, page))
                .flatMap(page -> page.contents().stream())
                .filter(object -> !isDirectoryMarker(object))
                .map(object -> new StoredObject(
                        new S3Location(
                                prefix.bucket(), object.key(), "s3://%s/%s".formatted(prefix.bucket(), object.key())),
                        key(prefix.key(), object.key()),
                        object.size()));
    }

    @Override
    public OptionalLong size(S3Location object) {
        if (object.key().isEmpty()) {
            return OptionalLong.empty();
        }
        return ifThere(
                        object,
                        () -> client.headObject(
                                request -> request.bucket(object.bucket()).key(object.key())))
                .map(head -> OptionalLong.of(head.contentLength()))
                .orElseGet(OptionalLong::empty);
    }

    @Override
    public ObjectStream open(S3Location object, long from) {
        requireKey(object, "read");
        return new S3Reader(client, object, retries, from);
    }

    @Override
    public ObjectWriter create(S3Location object, Optional<String> contentType) {
        requireKey(object, "written");
        return new S3Writer(object, upload(object, contentType));
    }

    @Override
    public boolean join(List<StoredObject> parts, S3Location object, Optional<String> contentType) {
        requireKey(object, "written");
        return new S3Join(client, upload(object, contentType), retries).join(parts);
    }

    @Override
    public void delete(S3Location object) {
        S3Errors.naming(
                object,
                () -> client.deleteObject(
                        request -> request.bucket(object.bucket()).key(object.key())));
    }

    @Override
    public void deleteAll(S3Location directory) {
        // Without the slash it would be a beginning of other names too.
        try (var objects = list(new S3Location(directory.bucket(), directory.key() + "/", directory.text() + "/"))) {
            objects.forEach(object -> delete((S3Location) object.location()));
        }
    }

    @Override
    public void requireWritable(S3Location object) {
        var upload = upload(object, Optional.empty());
        upload.begin();
        upload.abort();
    }

    @Override
    public Optional<Marker> marker(S3Location location) {
        return ifThere(
                        location,
                        // Read within the client's attempts, so an answer that breaks off is asked for again.
                        () -> client.getObjectAsBytes(
                                request -> request.bucket(location.bucket()).key(location.key())))
                .map(S3Store::marker);
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
    private static <T> Optional<T> ifThere(S3Location object, Supplier<T> request) {
        return S3Errors.naming(object, () -> {
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
    public boolean mark(S3Location location, String text) {
        return put(location, text, PutObjectRequest.builder().ifNoneMatch("*"), Optional::isEmpty);
    }

    @Override
    public boolean replace(S3Location location, String text, Marker found) {
        return put(
                location,
                text,
                PutObjectRequest.builder().ifMatch(found.version()),
                now -> now.filter(marker -> marker.version().equals(found.version()))
                        .isPresent());
    }

    /// @param same whether what is there now is what has to be there
    private boolean put(
            S3Location location, String text, PutObjectRequest.Builder conditional, Predicate<Optional<Marker>> same) {
        return S3Errors.naming(location, () -> {
            try {
                client.putObject(
                        conditional
                                .bucket(location.bucket())
                                .key(location.key())
                                .build(),
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

    private boolean putAnyway(S3Location location, String text, Predicate<Optional<Marker>> same) {
        if (!same.test(marker(location))) {
            return false;
        }
        client.putObject(
                request -> request.bucket(location.bucket()).key(location.key()), RequestBody.fromString(text));
        return says(location, text);
    }

    private boolean says(S3Location location, String text) {
        return marker(location).filter(marker -> marker.text().equals(text)).isPresent();
    }

    @Override
    public void close() {
        client.close();
    }

    private S3Upload upload(S3Location object, Optional<String> contentType) {
        return new S3Upload(client, object, contentType, checksums);
    }

    private static void requireKey(S3Location object, String verb) {
        if (object.key().isEmpty()) {
            throw StorageException.permanent(object, "can't be %s: found a bucket, expected an object".formatted(verb));
        }
    }

    private ListObjectsV2Response pageAfter(S3Location prefix, ListObjectsV2Response page) {
        return page.isTruncated() ? page(prefix, page.nextContinuationToken()) : null;
    }

    /// @param token null for the first page
    private ListObjectsV2Response page(S3Location prefix, String token) {
        return S3Errors.naming(
                prefix,
                () -> client.listObjectsV2(request -> request.bucket(prefix.bucket())
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
