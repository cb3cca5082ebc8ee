package dev.berth.storage.s3;

import dev.berth.storage.Location;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.IOException;

/// Writes an object to S3, or joins it of others, which S3 copies. What is written is one request
/// where it fits in one part, else it is sent in parts, one while the next is gathered: never more
/// than two are in memory. In a join, all that is too short to be copied may be, 5 MiB each.
///
/// Parts grow: 8 MiB for the first thousand, 16 for the second and so on to 1 GiB, so that small
/// objects need little memory and the 10,000 parts that S3 takes reach to nearly 4 TiB.
///
/// Another process may write the same object at the same time. Neither ends the upload of the other
/// before its own is complete, so one of them succeeds.
final class S3Writer extends ObjectWriter {

    private static final int FIRST_PART_BYTES = 8 << 20;
    private static final int PARTS_OF_ONE_SIZE = 1000;
    private static final int MOST_DOUBLINGS = 7;
    static final int MOST_PARTS = 10_000;

    /// Of a part, unless it is the last.
    private static final int LEAST_PART = 5 << 20;

    private static final long MOST_COPIED_AT_ONCE = 256L << 20;

    private final S3Upload upload;
    private PartBuffer part = new PartBuffer();
    private boolean isInParts;

    /// Others may join the same object.
    private boolean isJoin;

    /// Of the part that is gathered, from 1; copies are not counted.
    private int number = 1;

    S3Writer(Location location, S3Upload upload) {
        super(location);
        this.upload = upload;
    }

    /// @param number from 1
    static int partBytes(int number) {
        return FIRST_PART_BYTES << Math.min((number - 1) / PARTS_OF_ONE_SIZE, MOST_DOUBLINGS);
    }

    @Override
    protected void append(byte[] bytes, int offset, int length) {
        int taken = 0;
        while (taken < length) {
            if (part.size() == partBytes(number)) {
                beginInParts();
                upload.awaitArrival();
                sendPart();
            }
            int count = Math.min(length - taken, partBytes(number) - part.size());
            part.write(bytes, offset + taken, count);
            taken += count;
        }
    }

    /// Appends an object that S3 copies. What is shorter than a part is read, and sent together with
    /// what follows.
    ///
    /// @param source where the object is
    /// @param all the bytes that there are in the end
    void append(StoredObject object, S3Address source, long all) throws IOException {
        isJoin = true;
        long most = Math.max(MOST_COPIED_AT_ONCE, 2 * all / MOST_PARTS);
        for (long at = 0, end; at < object.size(); at = end) {
            if (part.size() == 0 && object.size() - at >= LEAST_PART) {
                end = Math.min(object.size(), at + most);
                beginInParts();
                upload.copy(source, at, end);
                continue;
            }
            end = Math.min(object.size(), at + LEAST_PART - part.size());
            try (var in = object.location().open(at)) {
                part.write(in.readNBytes((int) (end - at)));
            }
            if (part.size() == LEAST_PART) {
                beginInParts();
                sendPart();
            }
        }
    }

    @Override
    protected void publish() {
        if (!isInParts) {
            upload.put(part);
            return;
        }
        if (part.size() > 0) {
            sendPart();
        }
        upload.complete();
    }

    @Override
    protected void discard() {
        if (isInParts) {
            upload.abort(!isJoin);
        }
    }

    private void beginInParts() {
        if (!isInParts) {
            isInParts = true;
            upload.begin();
        }
    }

    private void sendPart() {
        if (number > MOST_PARTS) {
            throw StorageException.permanent(
                    location, "found more than %d parts, the last of 1 GiB".formatted(MOST_PARTS));
        }
        upload.send(part);
        part = new PartBuffer();
        number++;
    }
}
