package dev.berth.storage.s3;

import dev.berth.storage.Location;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.StorageException;

/// Writes an object to S3: with one request where it fits in one part, else in parts, of which one
/// is sent while the next is gathered. So there are never more than two in memory.
///
/// Parts grow: 8 MiB for the first thousand, 16 for the second and so on to 1 GiB, so that small
/// objects need little memory and the 10,000 parts that S3 takes reach to nearly 4 TiB.
final class S3Writer extends ObjectWriter {

    private static final int FIRST_PART_BYTES = 8 << 20;
    private static final int PARTS_OF_ONE_SIZE = 1000;
    private static final int MOST_DOUBLINGS = 7;
    static final int MOST_PARTS = 10_000;

    private final S3Upload upload;
    private PartBuffer part = new PartBuffer();

    /// From 1.
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
                sendPart();
            }
            int count = Math.min(length - taken, partBytes(number) - part.size());
            part.write(bytes, offset + taken, count);
            taken += count;
        }
    }

    @Override
    protected void publish() {
        if (!upload.hasBegun()) {
            upload.put(part);
        } else {
            upload.awaitArrival();
            upload.send(part);
            upload.complete();
        }
    }

    @Override
    protected void discard() {
        if (upload.hasBegun()) {
            upload.abort();
        }
    }

    /// There is more to come.
    private void sendPart() {
        if (number == MOST_PARTS) {
            throw StorageException.permanent(
                    location, "found more than %d parts, the last of 1 GiB".formatted(MOST_PARTS));
        }
        if (!upload.hasBegun()) {
            upload.begin();
        }
        upload.awaitArrival();
        upload.send(part);
        part = new PartBuffer();
        number++;
    }
}
