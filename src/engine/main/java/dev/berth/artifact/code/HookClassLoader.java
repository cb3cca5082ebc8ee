package dev.berth.artifact.code;

import dev.berth.artifact.ModelArtifactException;
import dev.berth.error.Unsaid;
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
import java.util.ArrayList;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.jar.JarFile;
import java.util.stream.Stream;
import java.util.zip.ZipFile;

/// The classes and resources of one artifact. Those that it shares with the server come from there:
/// the JDK's, Berth's, and the libraries that Berth's own signatures show. All others come from the
/// artifact alone: another version of the server may have another version of a library, or none.
///
/// It reads its jars itself, because what goes through the JDK's cache of jar files stays open
/// after [#close] or, worse, closes for another artifact that has the same jar.
final class HookClassLoader extends SecureClassLoader implements Closeable {

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
    private final Runnable onClose;

    /// In the order in which they are searched.
    private final List<JarFile> jars = new ArrayList<>();

    private SourceCompiler.Classes compiled = new SourceCompiler.Classes(Map.of());

    /// @param onClose run first when this closes
    /// @throws ModelArtifactException when one is no jar
    HookClassLoader(Path modelDirectory, List<Path> jars, Runnable onClose) throws IOException {
        super(Unsaid.HOOKS, SharedClassLoader.INSTANCE);
        this.modelDirectory = modelDirectory;
        this.onClose = onClose;
        for (var jar : jars) {
            try {
                this.jars.add(new JarFile(jar.toFile(), true, ZipFile.OPEN_READ, JarFile.runtimeVersion()));
            } catch (IOException e) {
                close();
                throw new ModelArtifactException(
                        modelDirectory, "%s: it can't be read: %s".formatted(shown(jar), e.getMessage()), e);
            }
        }
    }

    /// Adds classes before any of this loader is asked for.
    void add(SourceCompiler.Classes classes) {
        compiled = classes;
    }

    /// The file that one of the artifact's classes comes from, such as `code/Inference.java`.
    Optional<String> shownFile(String className) {
        return Optional.ofNullable(compiled.byName().get(className))
                .map(SourceCompiler.CompiledClass::source)
                .or(() -> with(classFile(className)).findFirst().map(HookClassLoader::path))
                .map(this::shown);
    }

    private String shown(Path file) {
        return modelDirectory.relativize(file).toString();
    }

    /// The classes that some of the jars offer as handlers.
    List<String> services(List<Path> ofJars) throws IOException {
        var services = new ArrayList<String>();
        for (var jar : with(SERVICES).filter(jar -> ofJars.contains(path(jar))).toList()) {
            new String(read(jar, SERVICES), StandardCharsets.UTF_8)
                    .lines()
                    .map(line -> line.replaceFirst("#.*", "").strip())
                    .filter(line -> !line.isEmpty())
                    .forEach(services::add);
        }
        return services;
    }

    /// The jars that have a file, also for another release of Java.
    private Stream<JarFile> with(String file) {
        return jars.stream().filter(jar -> jar.getJarEntry(file) != null);
    }

    private static Path path(JarFile jar) {
        return Path.of(jar.getName());
    }

    private static byte[] read(JarFile jar, String file) throws IOException {
        try (var in = jar.getInputStream(jar.getJarEntry(file))) {
            return in.readAllBytes();
        }
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
        if (SharedClassLoader.isShared(SharedClassLoader.packageName(name, '.'))) {
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
            var file = classFile(name);
            var jar = with(file).findFirst().orElseThrow(() -> new ClassNotFoundException(name));
            return define(name, read(jar, file), path(jar));
        } catch (IOException e) {
            throw new ClassNotFoundException(name, e);
        }
    }

    private Class<?> define(String name, byte[] bytes, Path file) throws MalformedURLException {
        var source = new CodeSource(file.toUri().toURL(), (Certificate[]) null);
        byte[] safe;
        try {
            safe = ExitRefused.in(bytes, this::anyClassFile);
        } catch (RuntimeException e) {
            throw new ClassFormatError("%s: %s".formatted(name, e));
        }
        try {
            return defineClass(name, safe, 0, safe.length, source);
        } catch (UnsupportedClassVersionError e) {
            throw new UnsupportedClassVersionError("%s: %s; compile it with --release %d and without --enable-preview"
                    .formatted(shown(file), e.getMessage(), Runtime.version().feature()));
        }
    }

    /// The bytes of a class by the name of its file, whichever loader has it; null where none has.
    private InputStream anyClassFile(String file) {
        var name = file.substring(0, file.length() - ".class".length()).replace('/', '.');
        var own = compiled.byName().get(name);
        return own == null ? getResourceAsStream(file) : new ByteArrayInputStream(own.bytes());
    }

    @Override
    public URL getResource(String name) {
        var own = SharedClassLoader.isShared(SharedClassLoader.packageName(name, '/')) ? null : findResource(name);
        return own == null ? super.getResource(name) : own;
    }

    @Override
    public Enumeration<URL> getResources(String name) throws IOException {
        if (SharedClassLoader.isShared(SharedClassLoader.packageName(name, '/'))) {
            return super.getResources(name);
        }
        var all = Collections.list(findResources(name));
        all.addAll(Collections.list(getParent().getResources(name)));
        return Collections.enumeration(all);
    }

    @Override
    protected URL findResource(String name) {
        return with(name).findFirst().map(jar -> url(jar, name)).orElse(null);
    }

    @Override
    protected Enumeration<URL> findResources(String name) {
        return Collections.enumeration(with(name).map(jar -> url(jar, name)).toList());
    }

    /// Closes the jars; classes that are not loaded by now can't be.
    @Override
    public void close() throws IOException {
        onClose.run();
        for (var jar : jars) {
            jar.close();
        }
    }

    private static URL url(JarFile jar, String file) {
        try {
            var name = new URI(null, null, "/" + file, null).getRawPath();
            // The fragment is how the JDK asks for the file of this release.
            var release = jar.isMultiRelease() ? "#runtime" : "";
            return URL.of(URI.create("jar:%s!%s%s".formatted(path(jar).toUri(), name, release)), UNCACHED);
        } catch (URISyntaxException | IOException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String classFile(String className) {
        return className.replace('.', '/') + ".class";
    }
}
