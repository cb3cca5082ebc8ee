package dev.berth.storage.s3;

import dev.berth.storage.ObjectStore;
import dev.berth.storage.StoreKind;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;

/// S3, as `s3://bucket/key`. Its options are those of the AWS CLI.
public final class S3 implements StoreKind {

    @Override
    public String scheme() {
        return "s3";
    }

    @Override
    public String form() {
        return "s3://bucket/key";
    }

    @Override
    public List<Option> flags() {
        return List.of(
                new Option(S3Options.ENDPOINT, "<url>", "An S3 server other than AWS's"),
                new Option(S3Options.REGION, "<region>", "The region of S3, where nothing else says it"),
                new Option(S3Options.PATH_STYLE, "", "Addresses buckets by path"),
                new Option(S3Options.ANONYMOUS, "", "Sends no signature, for public buckets"));
    }

    @Override
    public ObjectStore open(Function<String, Optional<String>> given) {
        return open(S3Options.read(given));
    }

    /// Such a store.
    public static ObjectStore open(S3Options options) {
        return new S3Store(new S3Connection(options, options.endpoint().isEmpty()));
    }
}
