package dev.berth.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/// docs/migrate.md says what becomes of other containers' variables.
class MigrateDocTest {

    private static final Pattern VARIABLE = Pattern.compile("`([A-Z]+(?:_[A-Z]+)+)`");

    private static String obeyed;
    private static String others;

    @BeforeAll
    static void read() throws IOException {
        var page = Files.readString(Path.of("docs/migrate.md")).split("\nThe others have no effect");
        obeyed = page[0];
        others = page[1];
    }

    @Test
    void theSettingsOfOtherServersAreThere() {
        var known = Configuration.SETTINGS.stream()
                .flatMap(setting -> setting.variables().stream())
                .filter(name -> name.matches("(SAGEMAKER_(TS|MODEL_SERVER)|TS|MMS|SERVING|HF)_.*"))
                .toList();
        assertThat(known).contains("TS_DEFAULT_RESPONSE_TIMEOUT", "HF_MODEL_ID");
        assertThat(variables(obeyed)).containsAll(known);
    }

    @Test
    void theOthersGiveAWarningEach() {
        assertThat(variables(others.split("\nA value that")[0]))
                .contains("HF_TASK", "OPTION_ENGINE")
                .allSatisfy(name -> assertThat(Configuration.read(Map.of(name, "1"), Map.of(), Path.of(""))
                                .warnings())
                        .singleElement()
                        .asString()
                        .startsWith(name + ": no effect here; "));
    }

    /// Those of the first column.
    private static List<String> variables(String table) {
        return table.lines()
                .filter(line -> line.startsWith("| `"))
                .flatMap(line -> VARIABLE.matcher(line.split("\\|")[1]).results())
                .map(match -> match.group(1))
                .toList();
    }
}
