package dev.berth.storage;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/// Objects on the local disk, in S3 and wherever a [StoreKind] reaches. Any threads may use it at
/// once.
public final class Storage implements AutoCloseable {

    private static final Pattern SCHEME = Pattern.compile("^([A-Za-z][A-Za-z0-9+.-]*):/");

    private final Map<String, ObjectStore> stores;

    /// All kinds of stores, as they are by default.
    public Storage() {
        this(_ -> Optional.empty());
    }

    /// All kinds of stores, as flags say. Nobody is asked for credentials or a region before the first
    /// location of a kind is used.
    ///
    /// @param given the value of a flag, `true` for a switch; nothing where it was not given
    /// @throws IllegalArgumentException with a message for people that names the flag
    public Storage(Function<String, Optional<String>> given) {
        this(StoreKind.all().stream().collect(Collectors.toMap(StoreKind::scheme, kind -> kind.open(given))));
    }

    /// @param stores by the schemes of their URIs
    public Storage(Map<String, ObjectStore> stores) {
        this.stores = Map.copyOf(stores);
    }

    /// The flags that say how stores are opened.
    public static List<StoreKind.Option> flags() {
        return StoreKind.all().stream().flatMap(kind -> kind.flags().stream()).toList();
    }

    /// Reads the address of a server.
    ///
    /// @param flag that it is the value of
    /// @throws IllegalArgumentException with a message for people that names the flag
    public static URI url(String flag, String text) {
        try {
            var url = new URI(text);
            if (url.getHost() != null && List.of("http", "https").contains(url.getScheme())) {
                return url;
            }
        } catch (URISyntaxException _) {
            // As said below.
        }
        throw new IllegalArgumentException(
                "%s: found %s, expected a URL such as http://localhost:8080".formatted(flag, text));
    }

    /// Reads a URI such as `s3://bucket/key` or `file:///path`, or a path.
    ///
    /// All behind the bucket is the key as it is, as in the AWS CLI: `%20` is not a space there. In a
    /// `file:` URI it is.
    ///
    /// @throws StorageException for anything else
    public Location at(String text) {
        var matcher = SCHEME.matcher(text);
        var scheme = matcher.find() ? matcher.group(1) : "file";
        var store = stores.get(scheme);
        if (store == null) {
            throw StoreKind.wrong(text, "the scheme " + scheme);
        }
        return store.at(text);
    }

    /// The location of a file or a directory of the default file system.
    public Location at(Path file) {
        return at(file.toString());
    }

    /// Gives connections back. Streams and writers must be closed before.
    @Override
    public void close() {
        stores.values().forEach(ObjectStore::close);
    }
}
