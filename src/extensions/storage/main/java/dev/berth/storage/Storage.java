package dev.berth.storage;

import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.function.Function;
import java.util.regex.Pattern;

/// Objects on the local disk, in S3 and wherever a [StoreKind] reaches. Any threads may use it at
/// once.
public final class Storage implements AutoCloseable {

    private static final Pattern SCHEME = Pattern.compile("^([A-Za-z][A-Za-z0-9+.-]*):/");

    private final List<StoreOptions> options;
    private final Map<StoreKind, ObjectStore> stores = new HashMap<>();

    /// @param options those of each kind of store that is not to be opened as it is by default. They
    ///   are used when the first location of their kind is; before that, nobody is asked for
    ///   credentials or a region
    public Storage(StoreOptions... options) {
        this.options = List.of(options);
    }

    /// The flags that say how stores are opened.
    public static List<StoreKind.Option> flags() {
        return StoreKind.all().stream().flatMap(kind -> kind.options().stream()).toList();
    }

    /// Reads them.
    ///
    /// @param given the value of a flag, `true` for a switch; nothing where it was not given
    /// @throws IllegalArgumentException with a message for people that names the flag
    public static StoreOptions[] options(Function<String, Optional<String>> given) {
        return StoreKind.all().stream()
                .flatMap(kind -> kind.read(given).stream())
                .toArray(StoreOptions[]::new);
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
        var kind = StoreKind.all().stream()
                .filter(known -> known.scheme().equals(scheme))
                .findFirst()
                .orElseThrow(() -> StoreKind.wrong(text, "the scheme " + scheme));
        return store(kind).at(text);
    }

    /// The location of a file or a directory of the default file system.
    public Location at(Path file) {
        return at(file.toString());
    }

    private synchronized ObjectStore store(StoreKind kind) {
        return stores.computeIfAbsent(kind, _ -> kind.open(options));
    }

    /// Gives connections back. Streams and writers must be closed before.
    @Override
    public synchronized void close() {
        stores.values().forEach(ObjectStore::close);
    }
}
