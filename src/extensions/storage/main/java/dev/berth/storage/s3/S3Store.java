package dev.berth.storage.s3;

import dev.berth.storage.Location;
import dev.berth.storage.ObjectStore;
import dev.berth.storage.StoreKind;
import java.util.regex.Pattern;
import software.amazon.awssdk.services.s3.S3Client;

/// S3, or a server that speaks its protocol. Its client is made when the first request is.
final class S3Store implements ObjectStore {

    private static final Pattern FORM = Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]*)(?:/(.*))?", Pattern.DOTALL);

    private final S3Options options;
    private final boolean checksums;
    private S3Client client;

    S3Store(S3Options options) {
        this(options, options.endpoint().isEmpty());
    }

    /// @param checksums whether parts travel with a CRC of their own. AWS understands that, many
    ///   other servers do not: so only where there is no endpoint
    S3Store(S3Options options, boolean checksums) {
        this.options = options;
        this.checksums = checksums;
    }

    @Override
    public Location at(String text) {
        var matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw StoreKind.wrong(text, "no name of a bucket");
        }
        return new S3Location(this, matcher.group(1), matcher.group(2) == null ? "" : matcher.group(2), text);
    }

    synchronized S3Client client() {
        if (client == null) {
            client = S3Clients.create(options, checksums);
        }
        return client;
    }

    RetryPolicy retries() {
        return options.retries();
    }

    boolean checksums() {
        return checksums;
    }

    @Override
    public synchronized void close() {
        if (client != null) {
            client.close();
        }
    }
}
