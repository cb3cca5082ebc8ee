package dev.berth.artifact.code;

import java.io.IOException;
import java.net.URL;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;

/// What hooks see of the JDK and of the server: the packages that Berth's own signatures show, and
/// all files that are no classes.
final class SharedClassLoader extends ClassLoader {

    private static final List<String> JDK = List.of("java.", "javax.", "jdk.", "sun.");
    private static final List<String> SERVER = List.of("dev.berth.", "ai.djl.", "org.slf4j.", "com.fasterxml.jackson.");
    private static final ClassLoader OF_SERVER = SharedClassLoader.class.getClassLoader();
    private static final String SERVICE_FILES = "META-INF/services/";

    static {
        registerAsParallelCapable();
    }

    static final ClassLoader INSTANCE = new SharedClassLoader();

    private SharedClassLoader() {
        super("shared", getPlatformClassLoader());
    }

    /// Whether classes of a package come from the JDK or the server where these have them.
    static boolean isShared(String packageName) {
        return JDK.stream().anyMatch((packageName + ".")::startsWith) || isOfServer(packageName);
    }

    /// Whether hooks see the server's classes of a package.
    static boolean isOfServer(String packageName) {
        return SERVER.stream().anyMatch((packageName + ".")::startsWith);
    }

    /// Of a class or a file in it.
    static String packageName(String name, char separator) {
        return name.substring(0, Math.max(0, name.lastIndexOf(separator))).replace(separator, '.');
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
        if (isOfServer(packageName(name, '.'))) {
            return OF_SERVER.loadClass(name);
        }
        throw new ClassNotFoundException(name);
    }

    @Override
    protected URL findResource(String name) {
        return isSeen(name) ? OF_SERVER.getResource(name) : null;
    }

    @Override
    protected Enumeration<URL> findResources(String name) throws IOException {
        return isSeen(name) ? OF_SERVER.getResources(name) : Collections.emptyEnumeration();
    }

    /// DJL looks for the files of its libraries by the loader of the thread. Names of services are those
    /// of classes.
    private static boolean isSeen(String file) {
        return file.startsWith(SERVICE_FILES)
                ? isOfServer(packageName(file.substring(SERVICE_FILES.length()), '.'))
                : !file.endsWith(".class") || isOfServer(packageName(file, '/'));
    }
}
