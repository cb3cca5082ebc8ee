package dev.berth;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/// Every link of a page to another file, or to a heading, leads somewhere.
class LinksTest {

    private static final List<Path> PLACES = paths(
            "README.md",
            "CONTRIBUTING.md",
            "SECURITY.md",
            "CHANGELOG.md",
            "docs",
            "tools",
            "deploy",
            "examples",
            "trace");
    private static final Pattern CODE = Pattern.compile("(?ms)^ *```.*?^ *```|`[^`\n]*`");
    private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
    private static final Pattern HEADING = Pattern.compile("(?m)^#+ (.*)$");

    private static List<Path> paths(String... names) {
        return List.of(names).stream().map(Path::of).toList();
    }

    @Test
    void allLeadSomewhere() throws IOException {
        var broken = new ArrayList<String>();
        int count = 0;
        for (var page : pages()) {
            var links = LINK.matcher(CODE.matcher(Files.readString(page)).replaceAll(""))
                    .results()
                    .map(found -> found.group(1))
                    .toList();
            for (var link : links) {
                count++;
                if (!link.contains("://") && !leadsSomewhere(page, link)) {
                    broken.add(page + ": " + link);
                }
            }
        }
        assertThat(count).isGreaterThan(50);
        assertThat(broken).isEmpty();
    }

    private static List<Path> pages() throws IOException {
        var pages = new ArrayList<Path>();
        for (var place : PLACES) {
            try (var files = Files.walk(place)) {
                files.filter(file -> file.toString().endsWith(".md") && !file.startsWith("docs/node_modules"))
                        .sorted()
                        .forEach(pages::add);
            }
        }
        return pages;
    }

    private static boolean leadsSomewhere(Path page, String link) {
        var parts = link.split("#", 2);
        var target = parts[0].isEmpty() ? page : page.resolveSibling(parts[0]);
        return Files.exists(target) && (parts.length < 2 || headings(target).contains(parts[1]));
    }

    /// As forges make anchors of them.
    private static List<String> headings(Path page) {
        try {
            return HEADING.matcher(Files.readString(page))
                    .results()
                    .map(LinksTest::anchor)
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String anchor(MatchResult heading) {
        return heading.group(1)
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N} _-]", "")
                .replace(' ', '-');
    }
}
