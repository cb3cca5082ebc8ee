package dev.berth.storage.local;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryIteratorException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ThreadLocalRandom;
import java.util.regex.Pattern;

/// Names the temporary files of writers, `.NAME.part-RANDOM`, and removes those that killed ones
/// have left.
///
/// A directory is read for them once, when the first file is written there, and not for each: it
/// may hold a million files. Used by any threads.
public final class Leftovers {

    private static final Pattern NAME = Pattern.compile("\\.(.+)\\.part-[0-9a-f]{16}", Pattern.DOTALL);

    /// A file system takes 255 bytes.
    private static final int LONGEST_NAME = 200;

    private static final int MOST_DIRECTORIES = 1000;

    /// What was found in those that were read last, by the label of its target.
    private final Map<Path, Map<String, List<Path>>> directories = new HashMap<>();

    /// A new name beside the target.
    static Path temporary(Path target) {
        long random = ThreadLocalRandom.current().nextLong();
        return target.resolveSibling(".%s.part-%016x".formatted(label(target), random));
    }

    /// Removes the leftovers of earlier writers of the target, whose directory must exist.
    synchronized void remove(Path target) throws IOException {
        var directory = target.toAbsolutePath().getParent();
        if (!directories.containsKey(directory)) {
            if (directories.size() == MOST_DIRECTORIES) {
                directories.clear();
            }
            directories.put(directory, find(directory));
        }
        var ofTarget = directories.get(directory).remove(label(target));
        for (var file : ofTarget == null ? List.<Path>of() : ofTarget) {
            Files.deleteIfExists(file);
        }
    }

    private static Map<String, List<Path>> find(Path directory) throws IOException {
        var found = new HashMap<String, List<Path>>();
        try (var entries = Files.newDirectoryStream(directory)) {
            for (var entry : entries) {
                var matcher = NAME.matcher(entry.getFileName().toString());
                if (matcher.matches() && Files.isRegularFile(entry, LinkOption.NOFOLLOW_LINKS)) {
                    found.computeIfAbsent(matcher.group(1), _ -> new ArrayList<>())
                            .add(entry);
                }
            }
        } catch (DirectoryIteratorException e) {
            throw e.getCause();
        }
        return found;
    }

    private static String label(Path target) {
        var name = target.getFileName().toString();
        var bytes = name.getBytes(StandardCharsets.UTF_8);
        return bytes.length <= LONGEST_NAME
                ? name
                : UUID.nameUUIDFromBytes(bytes).toString();
    }
}
