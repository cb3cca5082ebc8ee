package dev.berth.storage.s3;

/// An object, or a prefix of keys, as requests name it.
///
/// @param text as messages name it
record S3Address(String bucket, String key, String text) {

    @Override
    public String toString() {
        return text;
    }
}
