package dev.berth.storage.s3;

import dev.berth.storage.Location;
import dev.berth.storage.ObjectStore;
import dev.berth.storage.StoreKind;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/// S3, as `s3://bucket/key`. Its options are those of the AWS CLI.
public final class S3 implements StoreKind {

    private static final Pattern LOCATION =
            Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]*)(?:/(.*))?", Pattern.DOTALL);

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
        return new Store(new S3Connection(options, options.endpoint().isEmpty()));
    }

    /// AWS's, or that of a server that speaks its protocol.
    record Store(S3Connection connection) implements ObjectStore {

        @Override
        public Location at(String text) {
            var matcher = LOCATION.matcher(text);
            if (!matcher.matches()) {
                throw StoreKind.wrong(text, "no name of a bucket");
            }
            return new S3Location(connection, matcher.group(1), Objects.requireNonNullElse(matcher.group(2), ""), text);
        }

        @Override
        public void close() {
            connection.close();
        }
    }
}
