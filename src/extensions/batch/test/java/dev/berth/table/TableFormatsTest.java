package dev.berth.table;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TableFormatsTest {

    @Test
    void aJarThatIsMissingIsNamedWithTheWayToGetIt(@TempDir Path directory) {
        var jar = directory.resolve("berth-columnar.jar");
        assertThatThrownBy(() -> TableFormats.find("application/vnd.apache.parquet", jar))
                .hasMessage(
                        "application/vnd.apache.parquet needs Berth's berth-columnar.jar, expected it as %s: "
                                + "`mvn -Pcolumnar -DskipTests package` in Berth's sources makes it in target",
                        jar);
    }
}
