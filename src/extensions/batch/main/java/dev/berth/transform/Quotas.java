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
/// @param maxObjectBytes of each object
/// @param maxJobBytes of all objects together
record Quotas(long minRecords, long maxRecords, long maxObjectBytes, long maxJobBytes) {

    static final Quotas NONE = new Quotas(0, Long.MAX_VALUE, Long.MAX_VALUE, Long.MAX_VALUE);

    private static final long MEBIBYTE = 1 << 20;

    /// @param isBedrock whether the job may have some
    static Quotas read(boolean isBedrock, JobReader options) {
        var quotas = new Quotas(
                options.quota(JobOption.MIN_RECORDS, 1, 1).orElse(0),
                most(JobOption.MAX_RECORDS, 1, options),
                most(JobOption.MAX_OBJECT_SIZE_IN_MB, MEBIBYTE, options),
                most(JobOption.MAX_JOB_SIZE_IN_MB, MEBIBYTE, options));
        if (!isBedrock && !quotas.equals(NONE)) {
            options.wrong(JobOption.FORMAT, "nothing", "bedrock with a quota");
        }
        return quotas;
    }

    private static long most(JobOption option, long unit, JobReader options) {
        return options.quota(option, 1, unit).orElse(Long.MAX_VALUE);
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
                        records++;
                        if (records > maxRecords) {
                            throw tooMuch(JobOption.MAX_RECORDS, maxRecords, "records in the job");
                        }
                        if (bytes - before > maxObjectBytes) {
                            throw tooMuch(
                                    JobOption.MAX_OBJECT_SIZE_IN_MB,
                                    maxObjectBytes / MEBIBYTE,
                                    "MiB in " + object.key());
                        }
                        if (bytes > maxJobBytes) {
                            throw tooMuch(JobOption.MAX_JOB_SIZE_IN_MB, maxJobBytes / MEBIBYTE, "MiB in the job");
                        }
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

    private static TransformException tooMuch(JobOption option, long quota, String what) {
        return new TransformException("%s: found more than %d %s, expected no more".formatted(option, quota, what));
    }
}
