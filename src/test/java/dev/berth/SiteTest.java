package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/// The site made of docs/.
class SiteTest {

    private static final Path DOCS = Path.of("docs");

    @Test
    void theSidebarHasEveryPageOnce() throws Exception {
        var links = new ObjectMapper()
                .readTree(DOCS.resolve(".vitepress/sidebar.json").toFile())
                .findValuesAsText("link");
        try (var users = Files.list(DOCS);
                var builders = Files.list(DOCS.resolve("internals"))) {
            var pages = Stream.concat(users, builders)
                    .map(file -> "/" + DOCS.relativize(file))
                    .filter(name -> name.endsWith(".md"))
                    .map(name -> name.endsWith("/README.md")
                            ? name.substring(0, name.length() - 9)
                            : name.substring(0, name.length() - 3))
                    .toList();
            assertThat(links).containsExactlyInAnyOrderElementsOf(pages);
        }
    }
}
