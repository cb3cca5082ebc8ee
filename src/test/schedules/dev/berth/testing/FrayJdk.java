package dev.berth.testing;

import static java.lang.constant.ConstantDescs.CD_String;
import static java.lang.constant.ConstantDescs.CD_boolean;
import static java.lang.constant.ConstantDescs.CD_int;
import static java.lang.constant.ConstantDescs.CD_long;
import static java.lang.constant.ConstantDescs.CD_void;
import static java.lang.constant.ConstantDescs.INIT_NAME;

import java.io.File;
import java.io.IOException;
import java.lang.classfile.ClassFile;
import java.lang.classfile.CodeBuilder;
import java.lang.classfile.MethodModel;
import java.lang.constant.ClassDesc;
import java.lang.constant.MethodTypeDesc;
import java.net.URI;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Consumer;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// Makes what [Interleavings] runs on, from the JDK that runs this and Fray's jars on the class
/// path: a JDK whose locks and threads ask Fray, and Fray's two agents.
///
/// Fray's own Maven plugin does so only where the JDK has `jmods`, which Temurin's has no more, and
/// else downloads another one.
final class FrayJdk {

    /// As few as the tests need, because each class of them is rewritten.
    private static final String MODULES =
            "java.instrument,java.management,java.naming,java.net.http,java.sql,jdk.jfr,jdk.management,"
                    + "jdk.unsupported";

    private static final ClassDesc THREAD = ClassDesc.of("java.lang.Thread");

    private FrayJdk() {}

    /// @param arguments the directory that all is made in
    public static void main(String[] arguments) throws IOException, InterruptedException {
        var directory = Path.of(arguments[0]);
        var jdk = directory.resolve("jdk");
        var madeOf = directory.resolve("made-of");
        var inputs = System.getProperty("java.vm.version")
                + MODULES
                + jars("fray-").map(Path::toString).sorted().collect(Collectors.joining("\n", "\n", ""));
        if (!Files.exists(madeOf) || !Files.readString(madeOf).equals(inputs)) {
            Files.createDirectories(directory);
            delete(jdk);
            link(jdk);
        }
        patch(jdk, directory.resolve("patch"));
        Files.copy(
                jars("fray-instrumentation-agent").findFirst().orElseThrow(),
                directory.resolve("agent.jar"),
                StandardCopyOption.REPLACE_EXISTING);
        try (var library = Objects.requireNonNull(
                FrayJdk.class.getResourceAsStream("/libjvmti.so"), "Fray has a library for Linux on x86-64 only")) {
            Files.copy(library, directory.resolve("libjvmti.so"), StandardCopyOption.REPLACE_EXISTING);
        }
        Files.writeString(madeOf, inputs);
    }

    private static void link(Path jdk) throws IOException, InterruptedException {
        var path = jars("fray-instrumentation-jdk", "fray-instrumentation-base", "fray-runtime", "asm")
                .map(Path::toString)
                .collect(Collectors.joining(File.pathSeparator));
        var all = path + File.pathSeparator + strings("kotlin-stdlib-2", "kotlin-reflect", "annotations-13");
        int exit = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "jlink").toString(),
                        "-J-XX:TieredStopAtLevel=1",
                        "-J-javaagent:" + strings("fray-instrumentation-jdk"),
                        "-J--module-path=" + all,
                        "-J--class-path=" + all,
                        "-J--add-modules=org.pastalab.fray.instrumentation.jdk",
                        "--fray-instrumentation",
                        "--add-modules=" + MODULES,
                        "--output=" + jdk)
                .inheritIO()
                .start()
                .waitFor();
        if (exit != 0) {
            throw new IOException("jlink ended with " + exit);
        }
    }

    /// Replaces methods of the JDK in a directory for `--patch-module`.
    private static void patch(Path jdk, Path directory) throws IOException {
        try (var image = FileSystems.newFileSystem(URI.create("jrt:/"), Map.of("java.home", jdk.toString()))) {
            var classes = image.getPath("/modules/java.base");
            // Fray knows no virtual threads (https://github.com/cmu-pasta/fray/issues/166). For what it
            // looks at, the order of steps, a thread of the other kind does as well.
            patch(
                    classes,
                    directory,
                    "java/lang/ThreadBuilders.class",
                    Map.of("newVirtualThread", FrayJdk::newPlatformThread));
            // Its thread waits in a way that Fray does not see. Without it there is no such timeout.
            patch(
                    classes,
                    directory,
                    "java/util/concurrent/CompletableFuture.class",
                    Map.of("orTimeout", code -> code.aload(0).areturn()));
            // A table of all pools of the process, for thread dumps: its steps differ from run to run.
            patch(
                    classes,
                    directory,
                    "jdk/internal/vm/ThreadContainers.class",
                    Map.of(
                            "registerContainer",
                            code -> code.aload(0).areturn(),
                            "deregisterContainer",
                            CodeBuilder::return_));
        }
    }

    private static void patch(Path classes, Path directory, String name, Map<String, Consumer<CodeBuilder>> bodies)
            throws IOException {
        var file = ClassFile.of();
        var patched = file.transformClass(file.parse(Files.readAllBytes(classes.resolve(name))), (type, element) -> {
            var body = element instanceof MethodModel method
                    ? bodies.get(method.methodName().stringValue())
                    : null;
            if (element instanceof MethodModel method && body != null) {
                type.withMethodBody(
                        method.methodName(), method.methodType(), method.flags().flagsMask(), body);
            } else {
                type.with(element);
            }
        });
        var target = directory.resolve(name);
        Files.createDirectories(target.getParent());
        Files.write(target, patched);
    }

    /// Instead of `newVirtualThread(scheduler, name, characteristics, task)`.
    private static void newPlatformThread(CodeBuilder code) {
        code.new_(THREAD)
                .dup()
                .aconst_null()
                .aload(1)
                .iload(2)
                .aload(3)
                .lconst_0()
                .invokespecial(
                        THREAD,
                        INIT_NAME,
                        MethodTypeDesc.of(
                                CD_void,
                                ClassDesc.of("java.lang.ThreadGroup"),
                                CD_String,
                                CD_int,
                                ClassDesc.of("java.lang.Runnable"),
                                CD_long))
                .dup()
                .iconst_1()
                .invokevirtual(THREAD, "setDaemon", MethodTypeDesc.of(CD_void, CD_boolean))
                .areturn();
    }

    private static String strings(String... names) {
        return jars(names).map(Path::toString).collect(Collectors.joining(File.pathSeparator));
    }

    /// Those of the class path whose names begin so.
    private static Stream<Path> jars(String... names) {
        return Stream.of(System.getProperty("java.class.path").split(File.pathSeparator))
                .map(Path::of)
                .filter(jar ->
                        List.of(names).stream().anyMatch(jar.getFileName().toString()::startsWith));
    }

    private static void delete(Path directory) throws IOException {
        if (Files.exists(directory)) {
            try (var files = Files.walk(directory)) {
                for (var file : files.sorted(Comparator.reverseOrder()).toList()) {
                    Files.delete(file);
                }
            }
        }
    }
}
