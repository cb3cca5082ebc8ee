package dev.berth.transform;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.berth.config.ConfigurationException;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;

/// Reads what was said of a job, and collects what is wrong with that. Where an option has a problem,
/// its reader gives any value, because no job is made of it. One use, one thread.
public final class JobReader {

    /// What this machine does of the job.
    ///
    /// @param index which of the machines it is, from 0
    /// @param count how many do this job together
    /// @param bySize whether objects are dealt out by their sizes, and not by their keys
    public record Part(
            @JsonProperty("instance") int index,
            @JsonProperty("instances") int count,
            @JsonIgnore boolean bySize) {

        /// A file of this machine's own, `report-0-of-2.json` of two; of one `report.json`.
        public String named(String file) {
            return count == 1 ? file : file.replaceFirst("\\.\\w+$", "-%d-of-%d$0".formatted(index, count));
        }
    }

    private static final int MOST_INSTANCES = 10_000;

    private final Storage storage;
    private final Map<JobOption, String> options;

    /// Those that nothing has asked for yet.
    private final Set<JobOption> others;

    private final List<String> problems = new ArrayList<>();
    private final Part part;
    private final Optional<Location> input;

    JobReader(Storage storage, Map<JobOption, String> options) {
        this.storage = storage;
        this.options = new EnumMap<>(options);
        this.others = new TreeSet<>(options.keySet());
        this.part = readPart();
        this.input = location(JobOption.INPUT);
    }

    private Part readPart() {
        var index = number(JobOption.INSTANCE_INDEX, 0, MOST_INSTANCES - 1);
        var count = number(JobOption.INSTANCE_COUNT, 1, MOST_INSTANCES);
        if (index.isPresent() && !has(JobOption.INSTANCE_COUNT)) {
            wrong(
                    JobOption.INSTANCE_COUNT,
                    "nothing",
                    "how many instances there are with the --instance-index " + index.getAsInt());
        } else if (index.isEmpty() && count.orElse(1) > 1) {
            wrong(
                    JobOption.INSTANCE_INDEX,
                    "nothing",
                    "which of the %d instances this is; --instance-count 1 is for one that does it all"
                            .formatted(count.getAsInt()));
        } else if (index.orElse(0) >= count.orElse(MOST_INSTANCES)) {
            wrong(JobOption.INSTANCE_INDEX, index.getAsInt(), "less than the --instance-count of " + count.getAsInt());
        }
        return new Part(index.orElse(0), count.orElse(1), !isSecond(JobOption.SHARD_BY, "size", "key"));
    }

    Part part() {
        return part;
    }

    /// Nothing where what was given for it is wrong.
    Optional<Location> input() {
        return input;
    }

    /// @throws ConfigurationException with everything that is wrong
    void requireNoProblem() {
        if (!problems.isEmpty()) {
            throw new ConfigurationException(problems);
        }
    }

    void problem(String problem) {
        problems.add(problem);
    }

    /// Tells that an option has another value than it should.
    void wrong(JobOption option, Object found, String expected) {
        problem("%s: found %s, expected %s".formatted(option, found, expected));
    }

    /// Tells which options the job does not have, when all that it has were asked for.
    void requireNoOther(String format) {
        others.forEach(option -> problem("%s: found it with --format %s, expected none".formatted(option, format)));
    }

    /// Tells why objects can't be split where they are to be. An output must depend neither on which
    /// records share a request, nor on how many instances there are.
    void requireToSplit(boolean isMet, JobOption option, Object found, String expected) {
        if (has(JobOption.SPLIT_OBJECTS) && !isMet) {
            wrong(option, found + " with --split-objects", expected);
        }
    }

    boolean has(JobOption option) {
        return text(option).isPresent();
    }

    Optional<String> text(JobOption option) {
        others.remove(option);
        return Optional.ofNullable(options.get(option));
    }

    /// Of an option that must be given.
    Optional<Location> location(JobOption option) {
        var text = text(option);
        if (text.isEmpty()) {
            wrong(option, "nothing", option.label());
        }
        return text.flatMap(place -> location(option, place));
    }

    /// @param text what was made of the option's value
    Optional<Location> location(JobOption option, String text) {
        try {
            return Optional.of(storage.at(text));
        } catch (StorageException e) {
            problem("%s: %s".formatted(option, e.getMessage()));
            return Optional.empty();
        }
    }

    /// Tells where an object that the job writes would be one of the next run's.
    void requireNoInput(JobOption option, Location place, Location written) {
        if (input.filter(written::isListedIn).isPresent()) {
            wrong(
                    option,
                    "%s within the input %s".formatted(place, input.get()),
                    "another place: outputs would be the next run's inputs");
        }
    }

    /// The word that was given, or the first one where none was.
    <T> T word(JobOption option, List<T> words) {
        return word(option, words, "");
    }

    /// @param where these are all the words, for people
    <T> T word(JobOption option, List<T> words, String where) {
        var text = text(option);
        var word = words.stream()
                .filter(each -> text.filter(each.toString()::equals).isPresent())
                .findFirst();
        if (text.isPresent() && word.isEmpty()) {
            wrong(option, text.get(), expected(words) + where);
        }
        return word.orElse(words.getFirst());
    }

    /// Whether the second of two words was given; the first stands for nothing too.
    boolean isSecond(JobOption option, String first, String second) {
        return word(option, List.of(first, second)).equals(second);
    }

    /// A number that nothing limits unless it is given.
    long quota(JobOption option, int least) {
        var number = number(option, least, Integer.MAX_VALUE);
        return number.isPresent() ? number.getAsInt() : Long.MAX_VALUE;
    }

    OptionalInt number(JobOption option, int least, int most) {
        try {
            int number = Integer.parseInt(text(option).orElse(""));
            if (number >= least && number <= most) {
                return OptionalInt.of(number);
            }
        } catch (NumberFormatException _) {
            // It is named below, if it is there.
        }
        var end = most == Integer.MAX_VALUE ? "" : " to " + most;
        text(option).ifPresent(given -> wrong(option, given, "a whole number from " + least + end));
        return OptionalInt.empty();
    }

    /// Words, to end the sentence "expected …".
    static String expected(List<?> words) {
        var last = words.getLast().toString();
        var others = words.subList(0, words.size() - 1).stream().map(Object::toString);
        return words.size() == 1 ? last : others.collect(Collectors.joining(", ")) + " or " + last;
    }
}
