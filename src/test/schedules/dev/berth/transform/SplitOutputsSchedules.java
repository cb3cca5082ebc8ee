package dev.berth.transform;

import static dev.berth.testing.Interleavings.explore;
import static dev.berth.testing.Interleavings.together;
import static org.assertj.core.api.Assertions.assertThat;

import com.google.common.jimfs.Configuration;
import com.google.common.jimfs.Jimfs;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StoredObject;
import dev.berth.storage.local.LocalLocation;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileSystem;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// Two instances that end their parts of an object at the same time, on a disk in memory: each look
/// at a file takes a lock there, and so is a step.
class SplitOutputsSchedules {

    private static final TransformJob JOB = job();

    @Test
    void twoInstancesThatEndAtTheSameTimeMakeOneOutput() throws Exception {
        explore(() -> {
            try (var disk = Jimfs.newFileSystem(Configuration.unix())) {
                together(() -> finish(disk, 0), () -> finish(disk, 1));
                assertOutputIsWhole(disk);
            }
        });
    }

    @Test
    void anInstanceThatRunsAgainMeanwhileChangesNothing() throws Exception {
        explore(() -> {
            try (var disk = Jimfs.newFileSystem(Configuration.unix())) {
                write(disk, 0);
                write(disk, 1);
                together(
                        () -> outputs(disk).join(range(disk, 0)),
                        () -> outputs(disk).join(range(disk, 1)),
                        () -> assertThat(outputs(disk).isDone(range(disk, 0))).isTrue());
                assertOutputIsWhole(disk);
            }
        });
    }

    private static void finish(FileSystem disk, int instance) {
        write(disk, instance);
        outputs(disk).join(range(disk, instance));
    }

    private static void write(FileSystem disk, int instance) {
        try (var part = outputs(disk).part(range(disk, instance)).create()) {
            part.write("part %d\n".formatted(instance).getBytes(StandardCharsets.UTF_8));
            part.commit();
        }
    }

    private static void assertOutputIsWhole(FileSystem disk) throws IOException {
        try (var files = Files.walk(disk.getPath("/out"))) {
            assertThat(files.filter(Files::isRegularFile).map(Path::toString)).containsExactly("/out/a.txt.out");
        }
        assertThat(disk.getPath("/out/a.txt.out")).hasContent("part 0\npart 1\n");
    }

    /// Those of a process of its own.
    private static SplitOutputs outputs(FileSystem disk) {
        return new SplitOutputs(withOutput(on(disk, "/out")));
    }

    private static ObjectRange range(FileSystem disk, int instance) {
        var object = new StoredObject(on(disk, "/in/a.txt"), "a.txt", 2 * ObjectRange.LEAST_BYTES);
        return JOB.ranges(object).get(instance);
    }

    /// Texts name files of the default disk only.
    private static Location on(FileSystem disk, String path) {
        return new LocalLocation(disk.getPath(path), path);
    }

    private static TransformJob job() {
        var options = "INPUT=in OUTPUT=out ACCEPT=application/jsonlines SPLIT_TYPE=Line ASSEMBLE_WITH=Line"
                + " INSTANCE_COUNT=2 INSTANCE_INDEX=0 SPLIT_OBJECTS=true";
        var read = Stream.of(options.split(" "))
                .map(option -> option.split("="))
                .collect(Collectors.toMap(option -> JobOption.valueOf(option[0]), option -> option[1]));
        return TransformJob.read(new Storage(), read, Map.of());
    }

    /// The job with another output, which options name on the default disk only.
    private static TransformJob withOutput(Location output) {
        try {
            var components = TransformJob.class.getRecordComponents();
            var values = new Object[components.length];
            for (int i = 0; i < values.length; i++) {
                values[i] = components[i].getName().equals("output")
                        ? output
                        : components[i].getAccessor().invoke(JOB);
            }
            return (TransformJob) TransformJob.class.getConstructors()[0].newInstance(values);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }
}
