package dev.berth.config;

import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

class ConfigurationDocTest {

    private static final Path PAGE = Path.of("docs/configuration.md");
    private static final String BEGIN =
            "<!-- settings: made by ConfigurationDocTest from the settings and their settings.properties -->\n";
    private static final String END = "<!-- end of settings -->";

    private static final String UPDATE =
            "update it with: mvn test -Dtest=ConfigurationDocTest -Dberth.update.docs=true";

    @Test
    void the_page_shows_the_settings_as_they_are() throws IOException {
        var page = Files.readString(PAGE);
        var start = page.indexOf(BEGIN) + BEGIN.length();
        var expected = page.substring(0, start) + table() + page.substring(page.indexOf(END));
        if (Boolean.getBoolean("berth.update.docs")) {
            Files.writeString(PAGE, expected);
            return;
        }
        assertThat(differences(page, expected))
                .as("%s differs from the settings (- the page, + the settings); %s", PAGE, UPDATE)
                .isEmpty();
        assertThat(page).as("the order of %s; %s", PAGE, UPDATE).isEqualTo(expected);
    }

    private static List<String> differences(String page, String expected) {
        var stale = page.lines().filter(line -> !expected.contains(line)).map(line -> "- " + line);
        var missing = expected.lines().filter(line -> !page.contains(line)).map(line -> "+ " + line);
        return Stream.concat(stale, missing).toList();
    }

    private static String table() {
        return """
    | flag | environment | value | default | meaning |
    |---|---|---|---|---|
    """
                + Configuration.SETTINGS.stream().map(ConfigurationDocTest::row).collect(joining());
    }

    private static String row(Setting<?> setting) {
        var flag = setting.flag().map("`%s`"::formatted).orElse("–");
        var variables = setting.variables().stream().map("`%s`"::formatted).collect(joining(", "));
        // As `--help` has it.
        var value = setting.syntax().label().replaceAll("[<>]", "").replace("|", ", ");
        return "| %s | %s | %s | %s | %s |\n".formatted(flag, variables, value, setting.rule(), setting.meaning());
    }
}
