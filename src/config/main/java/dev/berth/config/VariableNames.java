package dev.berth.config;

import dev.berth.content.Slips;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.regex.Pattern;

/// Which environment variables are ours, and which one somebody meant who spelled a name wrongly.
///
/// The platform, the SDK and other people's containers share the prefix `SAGEMAKER_` and may add
/// names at any time, so an unknown one is no problem. `BERTH_` is ours alone.
final class VariableNames {

    private static final int SLIP = 2;

    private VariableNames() {}

    /// Notes an unknown name that is ours as a problem. One of another server, and any that looks
    /// like a slip, is a warning.
    static void check(Map<String, String> environment, List<Setting<?>> settings, Findings findings) {
        var spellings = spellings(settings);
        var unknown = new TreeMap<>(environment);
        unknown.keySet().removeAll(Set.copyOf(spellings.values()));
        ofOthers().forEach((variables, advice) -> {
            var theirs = new TreeMap<>(unknown);
            theirs.entrySet()
                    .removeIf(
                            variable -> !variables.matcher(variable.toString()).matches());
            unknown.keySet().removeAll(theirs.keySet());
            theirs.values().removeIf(String::isBlank);
            if (!theirs.isEmpty() && !advice.isEmpty()) {
                findings.warning("%s: no effect here; %s".formatted(String.join(", ", theirs.keySet()), advice));
            }
        });
        unknown.keySet().stream()
                .filter(name -> name.matches("(BERTH|SAGEMAKER|SM)_.*"))
                .forEach(name -> {
                    var hint = Slips.nearest(name, spellings.keySet().stream(), SLIP)
                            .map(spellings::get)
                            .map("did you mean %s?"::formatted);
                    if (name.startsWith(Setting.OURS)) {
                        findings.problem("%s: there is no such setting; %s"
                                .formatted(name, hint.orElse("see serve --help for those there are")));
                    } else {
                        hint.ifPresent(meant -> findings.warning("%s: %s".formatted(name, meant)));
                    }
                });
    }

    /// Variables that are no settings here, as `variables-of-others.txt` has them: names and values with
    /// `=` between them, and what to do instead where anybody misses them. The first pattern counts.
    private static Map<Pattern, String> ofOthers() {
        try (var in = VariableNames.class.getResourceAsStream("variables-of-others.txt")) {
            var advice = new LinkedHashMap<Pattern, String>();
            new String(in.readAllBytes(), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> !line.startsWith("#"))
                    .map(line -> line.split(" ", 2))
                    .forEach(line ->
                            advice.put(Pattern.compile(line[0], Pattern.DOTALL), line.length == 1 ? "" : line[1]));
            return advice;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// The variable that each spelling means: itself, or that of a setting under the name that it
    /// would have if it were ours, so that BERTH_PORT finds SAGEMAKER_BIND_TO_PORT.
    private static Map<String, String> spellings(List<Setting<?>> settings) {
        var spellings = new HashMap<String, String>();
        for (var setting : settings) {
            spellings.putIfAbsent(setting.ours(), setting.variables().getFirst());
            setting.variables().forEach(name -> spellings.put(name, name));
        }
        return spellings;
    }
}
