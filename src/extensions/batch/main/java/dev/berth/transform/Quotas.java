package dev.berth.transform;

import dev.berth.hooks.BadInputException;
import dev.berth.storage.StoredObject;
import java.io.BufferedInputStream;
import java.io.IOException;

/// What a job in Bedrock's format may have at most, and at least, so that a job that passes here is
/// not refused there. All are off by default.
///
/// @param minRecords of all objects together
/// @param maxRecords likewise
/// @param maxObjectMb MiB of each object
/// @param maxJobMb MiB of all objects together
record Quotas(long minRecords, long maxRecords, long maxObjectMb, long maxJobMb) {

    static final Quotas NONE = new Quotas(0, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);
    private static final long MEBIBYTE = 1 << 20;

    static Quotas read(JobReader options) {
        return new Quotas(
                options.number(JobOption.MIN_RECORDS, 1, Integer.MAX_VALUE).orElse(0),
                options.quota(JobOption.MAX_RECORDS, 1),
                options.quota(JobOption.MAX_OBJECT_SIZE_IN_MB, 1),
                options.quota(JobOption.MAX_JOB_SIZE_IN_MB, 1));
    }

    /// Reads all objects, up to the first that is too much.
    ///
    /// @throws TransformException naming the quota that they do not keep
    void check(ObjectSource source, Splitting splitting) {
        if (equals(NONE)) {
            return;
        }
        long records = 0;
        long bytes = 0;
        try (var objects = source.objects()) {
            for (var object : (Iterable<StoredObject>) objects::iterator) {
                long before = bytes;
                try (var in = new BufferedInputStream(source.open(object))) {
                    var lines = splitting.open(in);
                    for (var line = lines.next(); line.isPresent(); line = lines.next()) {
                        bytes += line.get().length;
                        atMost(maxRecords, ++records, JobOption.MAX_RECORDS, "records in the job");
                        atMost(
                                maxObjectMb,
                                mebibytes(bytes - before),
                                JobOption.MAX_OBJECT_SIZE_IN_MB,
                                "MiB in " + object.key());
                        atMost(maxJobMb, mebibytes(bytes), JobOption.MAX_JOB_SIZE_IN_MB, "MiB in the job");
                    }
                } catch (BadInputException | IOException e) {
                    throw new TransformException("%s: %s".formatted(object.key(), e.getMessage()), e);
                }
            }
        }
        if (records < minRecords) {
            throw new TransformException("%s: found %d records in the job, expected at least %d"
                    .formatted(JobOption.MIN_RECORDS, records, minRecords));
        }
    }

    /// Rounded up.
    private static long mebibytes(long bytes) {
        return Math.ceilDiv(bytes, MEBIBYTE);
    }

    private static void atMost(long quota, long found, JobOption option, String what) {
        if (found > quota) {
            throw new TransformException("%s: found more than %d %s, expected no more".formatted(option, quota, what));
        }
    }
}
