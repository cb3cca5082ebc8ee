package dev.berth.storage.s3;

import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// Makes an object of others, as one upload whose parts S3 copies. A part of an upload has 5 MiB at
/// least, unless it is the last: what is shorter is read and sent together with the beginning of
/// the next object.
///
/// Another process may be at the same. Neither ends the upload of the other before its own is
/// complete, so one of them succeeds always. For one thread.
record S3Join(S3Upload upload, Function<StoredObject, S3Address> addresses) {

    private static final int LEAST_PART = 5 << 20;
    private static final long MOST_COPIED_AT_ONCE = 256L << 20;

    private static final int NOT_IMPLEMENTED = 501;

    /// @return false where the objects are too short for an upload in parts, or the server can't copy
    boolean join(List<StoredObject> objects) {
        long bytes = objects.stream().mapToLong(StoredObject::size).sum();
        if (bytes < LEAST_PART) {
            return false;
        }
        upload.beginBesideOthers();
        boolean isComplete = false;
        try {
            begin(objects, Math.max(MOST_COPIED_AT_ONCE, 2 * bytes / S3Writer.MOST_PARTS));
            upload.complete();
            isComplete = true;
        } catch (StorageException e) {
            if (e.getCause() instanceof S3Exception answer && answer.statusCode() == NOT_IMPLEMENTED) {
                return false;
            }
            throw e;
        } finally {
            if (isComplete) {
                upload.endOthers();
            } else {
                upload.abort();
            }
        }
        return true;
    }

    /// Begins to copy or send all parts.
    private void begin(List<StoredObject> objects, long mostCopied) {
        var pending = new PartBuffer();
        for (var object : objects) {
            long at = 0;
            if (pending.size() > 0) {
                at = Math.min(object.size(), LEAST_PART - pending.size());
                read(object, 0, at, pending);
                if (pending.size() == LEAST_PART) {
                    upload.send(pending);
                    pending = new PartBuffer();
                }
            }
            while (object.size() - at >= LEAST_PART) {
                long end = Math.min(object.size(), at + mostCopied);
                upload.copy(addresses.apply(object), at, end);
                at = end;
            }
            read(object, at, object.size(), pending);
        }
        if (pending.size() > 0) {
            upload.send(pending);
        }
    }

    private void read(StoredObject object, long start, long end, PartBuffer buffer) {
        if (start == end) {
            return;
        }
        try (var in = object.location().open(start)) {
            buffer.write(in.readNBytes((int) (end - start)));
        } catch (IOException e) {
            throw StorageException.retryable(object.location(), "can't be joined: " + e.getMessage(), e);
        }
    }
}
