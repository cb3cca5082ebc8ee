package dev.berth.storage.s3;

import dev.berth.storage.ObjectStore;
import dev.berth.storage.StoreKind;
import dev.berth.storage.StoreOptions;
import java.util.Collection;
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
    public List<Option> options() {
        return List.of(
                new Option(S3Options.ENDPOINT, "<url>", "An S3 server other than AWS's"),
                new Option(S3Options.REGION, "<region>", "The region of S3, where nothing else says it"),
                new Option(S3Options.PATH_STYLE, "", "Addresses buckets by path"),
                new Option(S3Options.ANONYMOUS, "", "Sends no signature, for public buckets"));
    }

    @Override
    public Optional<StoreOptions> read(Function<String, Optional<String>> given) {
        return Optional.of(S3Options.read(given));
    }

    @Override
    public ObjectStore open(Collection<StoreOptions> options) {
        return new S3Store(options.stream()
                .filter(S3Options.class::isInstance)
                .map(S3Options.class::cast)
                .findFirst()
                .orElse(S3Options.DEFAULT));
    }
}
