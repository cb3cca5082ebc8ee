package dev.berth.storage.s3;

import dev.berth.storage.Location;
import dev.berth.storage.ObjectStore;
import dev.berth.storage.StoreKind;
import java.util.regex.Pattern;

/// S3, or a server that speaks its protocol.
record S3Store(S3Connection connection) implements ObjectStore {

    private static final Pattern FORM = Pattern.compile("s3://([A-Za-z0-9][A-Za-z0-9._-]*)(?:/(.*))?", Pattern.DOTALL);

    @Override
    public Location at(String text) {
        var matcher = FORM.matcher(text);
        if (!matcher.matches()) {
            throw StoreKind.wrong(text, "no name of a bucket");
        }
        return new S3Location(connection, matcher.group(1), matcher.group(2) == null ? "" : matcher.group(2), text);
    }

    @Override
    public void close() {
        connection.close();
    }
}
