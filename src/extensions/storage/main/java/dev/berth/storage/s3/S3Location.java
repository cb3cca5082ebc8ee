package dev.berth.storage.s3;

import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoreKind;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;

/// An object in a bucket, or a prefix of keys there.
///
/// @param key not percent-encoded; empty for the whole bucket
record S3Location(String bucket, String key, String text) implements Location {

    private static final Pattern FORM = Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]*)(?:/(.*))?", Pattern.DOTALL);

    private static final int MOST_BYTES = 1024;

    static S3Location of(String text) {
        var matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw StoreKind.wrong(text, "no name of a bucket");
        }
        return new S3Location(matcher.group(1), matcher.group(2) == null ? "" : matcher.group(2), text);
    }

    @Override
    public S3Location resolve(String child) {
        var below = key.isEmpty() ? child : StoreKind.below(key, child);
        int bytes = below.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MOST_BYTES) {
            throw StorageException.permanent(
                    this, "found a key of %d bytes below it, expected at most %d".formatted(bytes, MOST_BYTES));
        }
        return new S3Location(bucket, below, StoreKind.below(text, child));
    }

    @Override
    public boolean isListedIn(Location prefix) {
        return prefix instanceof S3Location(var other, var beginning, var _)
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
}
