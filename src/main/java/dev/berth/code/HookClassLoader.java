package dev.berth.code;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.MalformedURLException;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.security.CodeSource;
import java.security.ProtectionDomain;
import java.security.cert.Certificate;
import java.util.ArrayList;
import java.util.List;

/// The classes of one artifact. Those that it shares with the server come from there: the JDK's, Berth's, and the
/// libraries that Berth's own signatures show. All others are looked for in the artifact first, so that hooks may bring
/// another version of a library than the server has.
///
/// Each class knows the file it comes from as its [CodeSource], which is how messages name it.
final class HookClassLoader extends URLClassLoader {

  /// As stack traces name it.
  static final String NAME = "code";

  private static final List<String> SHARED = List.of(
      "java.", "javax.", "jdk.", "sun.", "dev.berth.", "ai.djl.", "org.slf4j.", "com.fasterxml.jackson.");

  private static final String SERVICES = "META-INF/services/dev.berth.hooks.InferenceHandler";

  static {
    registerAsParallelCapable();
  }

  private final Path modelDirectory;
  private final SourceCompiler.Classes compiled;

  HookClassLoader(Path modelDirectory, SourceCompiler.Classes compiled, URL[] jars) {
    super(NAME, jars, HookClassLoader.class.getClassLoader());
    this.modelDirectory = modelDirectory.toAbsolutePath().normalize();
    this.compiled = compiled;
  }

  /// The file of the artifact that one of these classes comes from.
  String file(Class<?> type) {
    var source = type.getProtectionDomain().getCodeSource().getLocation();
    return modelDirectory.relativize(Path.of(URI.create(source.toString()))).toString();
  }

  /// The classes that the jars offer as handlers.
  List<String> services() throws IOException {
    var names = new ArrayList<String>();
    for (var resources = findResources(SERVICES); resources.hasMoreElements(); ) {
      try (var in = resources.nextElement().openStream()) {
        new String(in.readAllBytes(), StandardCharsets.UTF_8).lines()
            .map(line -> line.replaceFirst("#.*", "").strip())
            .filter(line -> !line.isEmpty())
            .forEach(names::add);
      }
    }
    return names;
  }

  @Override
  protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
    if (SHARED.stream().anyMatch(name::startsWith)) {
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
    var own = compiled.byName().get(name);
    if (own != null) {
      try {
        return define(name, own.bytes(), own.source().toUri().toURL());
      } catch (MalformedURLException e) {
        throw new ClassNotFoundException(name, e);
      }
    }
    var file = name.replace('.', '/') + ".class";
    var resource = findResource(file);
    if (resource == null) {
      throw new ClassNotFoundException(name);
    }
    try (var in = resource.openStream()) {
      return define(name, in.readAllBytes(), jar(resource, file));
    } catch (IOException e) {
      throw new ClassNotFoundException(name, e);
    }
  }

  private Class<?> define(String name, byte[] bytes, URL source) {
    var safe = ExitRefused.in(bytes, this::classFile);
    return defineClass(
        name, safe, 0, safe.length, new ProtectionDomain(new CodeSource(source, (Certificate[]) null), null, this, null));
  }

  /// The bytes of a class by the name of its file, whichever loader has it.
  private InputStream classFile(String file) {
    var own = compiled.byName().get(file.substring(0, file.length() - ".class".length()).replace('/', '.'));
    return own == null ? getResourceAsStream(file) : new ByteArrayInputStream(own.bytes());
  }

  /// The jar of `jar:file:/…/x.jar!/Some.class`.
  @SuppressWarnings("deprecation")
  private static URL jar(URL resource, String file) throws MalformedURLException {
    var text = resource.toString();
    return new URL(text.substring("jar:".length(), text.length() - file.length() - "!/".length()));
  }
}
