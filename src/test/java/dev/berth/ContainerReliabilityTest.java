package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import dev.berth.testing.BerthImage;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.TestFactory;

/// Attacks on containers of the image with 1 GB and one processor: `tools/reliability/run attacks
/// faults --short`, a test for each case.
///
/// They run one after the other in one process before the first test; its output stays in
/// `target/reliability.log`.
@Order(1)
@Tag("packaged")
class ContainerReliabilityTest {

    private static final Path LOG = Path.of("target", "reliability.log");
    private static final String EXPECTED = "expectation";

    /// A line of the campaign's table, and what it says below it.
    private record Result(String name, List<String> lines) {
        boolean isMet() {
            return lines.getFirst().contains("| met;");
        }
    }

    @BeforeAll
    static void buildTheImage() throws Exception {
        BerthImage.build();
    }

    @TestFactory
    Stream<DynamicTest> theContainerHolds() throws Exception {
        var results = attacked();
        assertThat(Files.readString(LOG))
                .as("the whole of %s", LOG)
                .containsPattern("%d cases, \\d+ missed\n$".formatted(results.size()));
        return results.stream()
                .map(result -> DynamicTest.dynamicTest(
                        result.name,
                        () -> assertThat(result.isMet())
                                .as(String.join("\n", result.lines))
                                .isTrue()));
    }

    private static List<Result> attacked() throws IOException, InterruptedException {
        var command = List.of("tools/reliability/run", "attacks", "faults", "--image", BerthImage.NAME, "--short");
        new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(LOG.toFile())
                .start()
                .waitFor();
        var results = new ArrayList<Result>();
        for (var line : Files.readAllLines(LOG)) {
            if (line.startsWith("| ") && !line.contains(EXPECTED)) {
                results.add(new Result(line.split("\\|")[1].strip(), new ArrayList<>(List.of(line))));
            } else if (!results.isEmpty()) {
                results.getLast().lines.add(line);
            }
        }
        return results;
    }
}
