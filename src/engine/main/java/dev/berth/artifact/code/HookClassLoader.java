package dev.berth.artifact.code;

import java.io.ByteArrayInputStream;
import java.io.Closeable;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URISyntaxException;
import java.net.URL;
import java.net.URLConnection;
import java.net.URLStreamHandler;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.SecureClassLoader;
import java.security.cert.Certificate;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Optional;

/// The classes and resources of one artifact. Those that it shares with the server come from there:
/// the JDK's, Berth's, and the libraries that Berth's own signatures show. All others are looked
/// for in the artifact first, so that hooks may bring another version of a library than the server
/// has.
///
/// It reads its jars itself, because what goes through the JDK's cache of jar files stays open
/// after [#close] or, worse, closes for another artifact that has the same jar.
final class HookClassLoader extends SecureClassLoader implements Closeable {

    /// As stack traces name it.
    static final String NAME = "code";

    private static final String SERVICES = "META-INF/services/dev.berth.hooks.InferenceHandler";

    private static final URLStreamHandler UNCACHED = new URLStreamHandler() {
        @Override
        protected URLConnection openConnection(URL url) throws IOException {
            var connection = URI.create(url.toString()).toURL().openConnection();
            connection.setUseCaches(false);
            return connection;
        }
    };

    static {
        registerAsParallelCapable();
    }

    private final Path modelDirectory;
    private final SourceCompiler.Classes compiled;
    private final HookJars jars;
    private final Runnable onClose;

    /// @param jars closed with this
    /// @param onClose run first when this closes
    HookClassLoader(Path modelDirectory, SourceCompiler.Classes compiled, HookJars jars, Runnable onClose) {
        super(NAME, HookClassLoader.class.getClassLoader());
        this.modelDirectory = modelDirectory;
        this.compiled = compiled;
        this.jars = jars;
        this.onClose = onClose;
    }

    /// The file that one of the artifact's classes comes from, such as `code/Inference.java`.
    Optional<String> shownFile(String className) {
        return Optional.ofNullable(compiled.byName().get(className))
                .map(SourceCompiler.CompiledClass::source)
                .or(() -> jars.find(classFile(className)).map(HookJars.Entry::jar))
                .map(file -> modelDirectory.relativize(file).toString());
    }

    /// The classes that a jar offers as handlers.
    List<String> services(Path jar) throws IOException {
        var file = jars.in(jar, SERVICES);
        if (file.isEmpty()) {
            return List.of();
        }
        return new String(file.get().read(), StandardCharsets.UTF_8)
                .lines()
                .map(line -> line.replaceFirst("#.*", "").strip())
                .filter(line -> !line.isEmpty())
                .toList();
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (SourceCompiler.isShared(packageName(name, '.'))) {
            return super.loadClass(name, resolve);
        }
        synchronized (getClassLoadingLock(name)) {
            var loaded = findLoadedClass(name);
            if (loaded != null) {
                return loaded;
            }
            try {
                return findClass(name);
            } catch (ClassNotFoundException _) {
                return super.loadClass(name, resolve);
            }
        }
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        try {
            var own = compiled.byName().get(name);
            if (own != null) {
                return define(name, own.bytes(), own.source());
            }
            var entry = jars.find(classFile(name)).orElseThrow(() -> new ClassNotFoundException(name));
            return define(name, entry.read(), entry.jar());
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private Class<?> define(String name, byte[] bytes, Path file) throws MalformedURLException {
        ClassVersion.check(name, bytes, modelDirectory.relativize(file).toString());
        var source = new CodeSource(file.toUri().toURL(), (Certificate[]) null);
        byte[] safe;
        try {
            safe = ExitRefused.in(bytes, this::anyClassFile);
        } catch (RuntimeException e) {
            throw new ClassFormatError("%s: %s".formatted(name, e));
        }
        return defineClass(name, safe, 0, safe.length, source);
    }

    /// The bytes of a class by the name of its file, whichever loader has it; null where none has.
    private InputStream anyClassFile(String file) {
        var name = file.substring(0, file.length() - ".class".length()).replace('/', '.');
        var own = compiled.byName().get(name);
        return own == null ? getResourceAsStream(file) : new ByteArrayInputStream(own.bytes());
    }

    @Override
    public URL getResource(String name) {
        var own = SourceCompiler.isShared(packageName(name, '/')) ? null : findResource(name);
        return own == null ? super.getResource(name) : own;
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        if (SourceCompiler.isShared(packageName(name, '/'))) {
            return super.getResources(name);
        }
        var all = Collections.list(findResources(name));
        all.addAll(Collections.list(getParent().getResources(name)));
        return Collections.enumeration(all);
    }

    @Override
    protected URL findResource(String name) {
        return jars.find(name).map(HookClassLoader::url).orElse(null);
    }

    @Override
    protected Enumeration<URL> findResources(String name) {
        return Collections.enumeration(
                jars.findAll(name).stream().map(HookClassLoader::url).toList());
    }

    /// Closes the jars; classes that are not loaded by now can't be.
    @Override
    public void close() throws IOException {
        onClose.run();
        jars.close();
    }

    private static URL url(HookJars.Entry entry) {
        try {
            var path = new URI(null, null, "/" + entry.name(), null).getRawPath();
            // The fragment is how the JDK asks for the file of this release.
            var release = entry.open().isMultiRelease() ? "#runtime" : "";
            return URL.of(URI.create("jar:%s!%s%s".formatted(entry.jar().toUri(), path, release)), UNCACHED);
        } catch (URISyntaxException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String classFile(String className) {
        return className.replace('.', '/') + ".class";
    }

    private static String packageName(String name, char separator) {
        return name.substring(0, Math.max(0, name.lastIndexOf(separator))).replace(separator, '.');
    }
}
