package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;

/// A fenced block of a page in Markdown: a program, commands, or what they print.
///
/// @param language empty where the page names none
public record CodeBlock(String language, String text) {

    private static final Pattern BLOCK = Pattern.compile("```(\\w*)\\n(.*?)```", Pattern.DOTALL);

    /// All of some pages, in their order.
    public static List<CodeBlock> of(String... pages) throws IOException {
        var blocks = new ArrayList<CodeBlock>();
        for (var page : pages) {
            BLOCK.matcher(Files.readString(Path.of(page)))
                    .results()
                    .forEach(block -> blocks.add(new CodeBlock(block.group(1), block.group(2))));
        }
        return blocks;
    }

    public static List<String> texts(String language, String page) throws IOException {
        return of(page).stream()
                .filter(block -> block.language.equals(language))
                .map(CodeBlock::text)
                .toList();
    }

    /// The first text that begins so.
    public static String beginning(String with, List<CodeBlock> blocks) {
        return blocks.stream()
                .map(CodeBlock::text)
                .filter(text -> text.startsWith(with))
                .findFirst()
                .orElseThrow();
    }

    /// What a command prints to stdout. It must succeed.
    public static String run(String command) throws IOException, InterruptedException {
        var errors = Files.createTempFile("berth-err", ".log");
        var process = new ProcessBuilder("bash", "-c", command)
                .redirectError(errors.toFile())
                .start();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(process.waitFor())
                .as("%s%n%s%n%s", command, output, Files.readString(errors))
                .isZero();
        Files.delete(errors);
        return output;
    }
}
