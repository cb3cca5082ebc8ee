package dev.berth.table;

import java.net.MalformedURLException;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.ServiceLoader;

/// Finds the format of a content type: in `berth-columnar.jar` beside the server's jar, or on the
/// class path.
public final class TableFormats {

    /// The content types that are tables.
    public static final List<String> TYPES = List.of(
            "application/vnd.apache.parquet",
            "application/vnd.apache.arrow.file",
            "application/vnd.apache.arrow.stream");

    private static final String JAR = "berth-columnar.jar";

    private TableFormats() {}

    /// @param type one of [#TYPES]
    /// @throws IllegalStateException saying what is missing, and how to get it
    public static TableFormat find(String type) {
        try {
            var code = Path.of(TableFormats.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
            return find(type, code.getParent().resolveSibling(JAR));
        } catch (URISyntaxException | MalformedURLException e) {
            throw new IllegalStateException(e);
        }
    }

    static TableFormat find(String type, Path jar) throws MalformedURLException {
        var jars = Files.exists(jar) ? new URL[] {jar.toUri().toURL()} : new URL[0];
        // Never closed: the format loads more of its classes while the job runs.
        var loader = new URLClassLoader("columnar", jars, TableFormats.class.getClassLoader());
        return ServiceLoader.load(TableFormat.class, loader).stream()
                .map(ServiceLoader.Provider::get)
                .filter(format -> format.type().equals(type))
                .findFirst()
                .orElseThrow(() -> new IllegalStateException(
                        "%s needs Berth's %s, expected it as %s: `mvn -Pcolumnar -DskipTests package` in Berth's sources makes it in target"
                                .formatted(type, JAR, jar)));
    }
}
