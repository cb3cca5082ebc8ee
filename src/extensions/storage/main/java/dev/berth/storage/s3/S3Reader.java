package dev.berth.storage.s3;

import dev.berth.storage.ObjectStream;
import dev.berth.storage.StorageException;
import java.io.EOFException;
import java.io.IOException;
import software.amazon.awssdk.core.ResponseInputStream;
import software.amazon.awssdk.core.exception.SdkException;
import software.amazon.awssdk.services.s3.model.GetObjectResponse;

/// Reads an object as one stream. Where the connection ends before the object does, it asks for the
/// rest, of the same version of the object (`If-Match`).
final class S3Reader extends ObjectStream {

    /// Less than this between two losses, and they count as losses in a row.
    private static final int PROGRESS_BYTES = 1 << 16;

    private final S3Connection connection;
    private final S3Location object;
    private final String version;
    private final long size;

    private ResponseInputStream<GetObjectResponse> body;
    private long position;
    private long lastLoss;
    private int losses;
    private boolean closed;

    /// @param from how many bytes of the object are left out
    S3Reader(S3Location object, long from) {
        this.connection = object.connection();
        this.object = object;
        this.position = from;
        this.body = rest(null);
        this.version = body.response().eTag();
        if (body.response().contentLength() == null) {
            body.abort();
            throw StorageException.permanent(
                    object, "found an answer without the object's size, expected a Content-Length");
        }
        this.size = from + body.response().contentLength();
        requireRange();
    }

    @Override
    public long size() {
        return size;
    }

    @Override
    public int read(byte[] bytes, int offset, int length) {
        if (closed) {
            throw new IllegalStateException(object + ": found a stream that has been closed, expected an open one");
        }
        if (length == 0) {
            return 0;
        }
        while (true) {
            try {
                int count = body.read(bytes, offset, length);
                if (count >= 0 || position == size) {
                    position += Math.max(0, count);
                    return count;
                }
                goOn(new EOFException("found the end"));
            } catch (IOException e) {
                if (position == size) {
                    return -1;
                }
                goOn(e);
            } catch (SdkException e) {
                throw S3Errors.of(object, e);
            }
        }
    }

    @Override
    public int available() {
        return closed || position == size ? 0 : 1;
    }

    /// Hangs up, rather than wait for what is not wanted any more. Where all has been read, the
    /// connection is kept for another object.
    @Override
    public void close() {
        closed = true;
        try {
            if (position == size) {
                body.close();
            } else {
                body.abort();
            }
        } catch (IOException e) {
            body.abort();
        }
    }

    /// Asks for the rest after a while.
    private void goOn(IOException loss) {
        body.abort();
        losses = position - lastLoss >= PROGRESS_BYTES ? 1 : losses + 1;
        lastLoss = position;
        if (losses >= connection.retries().attempts()) {
            throw StorageException.retryable(
                    object,
                    "the connection was lost %d times, last after %d of %d bytes: %s"
                            .formatted(losses, position, size, loss.getMessage()),
                    loss);
        }
        try {
            Thread.sleep(S3Connection.backoff(connection.retries()).computeDelay(losses + 1));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw StorageException.retryable(object, "interrupted", e);
        }
        body = rest(version);
        requireRange();
    }

    /// @param version null: any
    private ResponseInputStream<GetObjectResponse> rest(String version) {
        return S3Errors.naming(
                object,
                () -> connection
                        .client()
                        .getObject(request -> request.bucket(object.bucket())
                                .key(object.key())
                                .ifMatch(version)
                                .range(position == 0 ? null : "bytes=%d-".formatted(position))));
    }

    /// Not every server knows ranges.
    private void requireRange() {
        var range = "bytes %d-%d/%d".formatted(position, size - 1, size);
        var found = body.response().contentRange();
        if (position > 0 && !range.equals(found)) {
            body.abort();
            throw StorageException.permanent(
                    object,
                    "found %s, expected %s".formatted(found == null ? "an answer without a range" : found, range));
        }
    }
}
