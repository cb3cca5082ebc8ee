package dev.berth.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.memory.RequestMemory;
import dev.berth.serving.ServedModel;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.nio.file.FileSystems;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedMethod;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/// The classes that a request passes on its way, as the JVM's own recorder traces them: each of which
/// a method runs. What is nested counts as what is around it.
@Tag("slow")
@Timeout(120)
class RequestWayTest {

    /// The goal is 25. It goes down with the way, and never up.
    private static final int MOST = 49;

    private static final int REQUESTS = 10;

    private static final List<String> PACKAGES =
            List.of("http", "serving", "batching", "memory", "metrics", "telemetry");

    @TempDir
    private Path directory;

    @Test
    void aRequestPassesNoMoreClassesThanItDid() throws Exception {
        var file = directory.resolve("way.jfr");
        try (var server = TestServer.with(new TextHandler()).start();
                var recording = new Recording()) {
            for (int i = 0; i < 20; i++) {
                // Until all threads are there.
                assertAnswers(server);
            }
            recording.enable("jdk.MethodTrace").with("filter", filter()).with("threshold", "0 ns");
            recording.start();
            for (int i = 0; i < REQUESTS; i++) {
                assertAnswers(server);
            }
            recording.stop();
            recording.dump(file);
        }
        var calls = new TreeMap<String, Integer>();
        for (var event : RecordingFile.readAllEvents(file)) {
            // The watch of the server's health looks at its own time, and the test asks for the port.
            if (event.getEventType().getName().equals("jdk.MethodTrace")
                    && String.valueOf(event.getThread().getJavaName()).matches("berth-(?!stuck-hooks).*")) {
                RecordedMethod method = event.getValue("method");
                calls.merge(method.getType().getName().replaceFirst("\\$.*", ""), 1, Integer::sum);
            }
        }
        // What runs less often is not of each request.
        calls.values().removeIf(times -> times < REQUESTS);
        assertThat(calls.keySet())
                .contains("dev.berth.http.Invocations", "dev.berth.serving.Flight", "dev.berth.batching.WorkerPool")
                .hasSizeLessThanOrEqualTo(MOST);
    }

    private static void assertAnswers(TestServer server) throws Exception {
        assertThat(server.invoke("one", "Content-Type", TextHandler.TEXT, "Accept", TextHandler.TEXT)
                        .body())
                .isEqualTo("ONE");
    }

    /// All classes of the modules on the way, as the recorder takes them.
    private static String filter() throws Exception {
        var names = new TreeSet<String>();
        for (var module : List.of(Invocations.class, ServedModel.class, RequestMemory.class)) {
            var root = Path.of(
                    module.getProtectionDomain().getCodeSource().getLocation().toURI());
            if (Files.isDirectory(root)) {
                names.addAll(classes(root));
            } else {
                try (var jar = FileSystems.newFileSystem(root)) {
                    names.addAll(classes(jar.getPath("/")));
                }
            }
        }
        return String.join(";", names);
    }

    private static List<String> classes(Path root) throws Exception {
        try (Stream<Path> files = Files.walk(root.resolve("dev/berth"))) {
            return files.map(path -> root.relativize(path).toString())
                    .filter(name -> name.endsWith(".class") && PACKAGES.contains(name.split("/")[2]))
                    .map(name ->
                            name.substring(0, name.length() - ".class".length()).replace('/', '.'))
                    .collect(Collectors.toList());
        }
    }
}
