package dev.berth.transform;

import com.fasterxml.jackson.annotation.JsonIgnore;
import com.fasterxml.jackson.annotation.JsonProperty;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.OptionalInt;
import java.util.OptionalLong;

/// Reads what was said of a job, and collects what is wrong with that. One use, one thread.
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
    private final Map<String, String> ofSplitTypes;
    private final List<String> problems = new ArrayList<>();
    private final Part part;
    private final Optional<Location> input;

    /// @param ofSplitTypes their own options, by their flags
    JobReader(Storage storage, Map<JobOption, String> options, Map<String, String> ofSplitTypes) {
        this.storage = storage;
        this.options = new EnumMap<>(options);
        this.ofSplitTypes = Map.copyOf(ofSplitTypes);
        this.part = readPart();
        this.input = location(JobOption.INPUT);
    }

    void cannotSplit(JobOption option, String found, String expected) {
        wrong(option, "%s with %s".formatted(found, JobOption.SPLIT_OBJECTS.flag()), expected);
    }

    private Part readPart() {
        var index = number(JobOption.INSTANCE_INDEX, 0, MOST_INSTANCES - 1);
        var count = number(JobOption.INSTANCE_COUNT, 1, MOST_INSTANCES);
        if (index.isPresent()
                && count.isEmpty()
                && text(JobOption.INSTANCE_COUNT).isEmpty()) {
            problem("%s: found nothing, expected how many instances there are with the %s %d"
                    .formatted(JobOption.INSTANCE_COUNT, JobOption.INSTANCE_INDEX.flag(), index.getAsInt()));
        } else if (index.isEmpty() && count.orElse(1) > 1) {
            problem(("%s: found nothing, expected which of the %d instances this is; %s 1 is for one that"
                            + " does it all")
                    .formatted(JobOption.INSTANCE_INDEX, count.getAsInt(), JobOption.INSTANCE_COUNT.flag()));
        } else if (count.isPresent() && index.orElse(0) >= count.getAsInt()) {
            problem("%s: found %d, expected less than the %s of %d"
                    .formatted(
                            JobOption.INSTANCE_INDEX,
                            index.orElse(0),
                            JobOption.INSTANCE_COUNT.flag(),
                            count.getAsInt()));
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

    /// Whether an object of this job's input may be at a place.
    boolean isInput(Location place) {
        return input.filter(place::isListedIn).isPresent();
    }

    void requireNoProblem() throws JobException {
        if (!problems.isEmpty()) {
            throw new JobException(problems);
        }
    }

    void problem(String problem) {
        problems.add(problem);
    }

    /// Tells that an option has another value than it should.
    void wrong(JobOption option, Object found, String expected) {
        problem("%s: found %s, expected %s".formatted(option, found, expected));
    }

    /// Tells of an option that is given and must not be.
    void refuse(JobOption option, String expected) {
        text(option).ifPresent(given -> wrong(option, given, expected));
    }

    boolean has(JobOption option) {
        return options.containsKey(option);
    }

    Location at(String text) {
        return storage.at(text);
    }

    Optional<String> text(JobOption option) {
        return Optional.ofNullable(options.get(option));
    }

    Optional<Location> location(JobOption option) {
        var text = text(option);
        if (text.isEmpty()) {
            wrong(option, "nothing", option.label());
        }
        try {
            return text.map(storage::at);
        } catch (StorageException e) {
            problem("%s: %s".formatted(option, e.getMessage()));
            return Optional.empty();
        }
    }

    <E extends Enum<E>> Optional<E> word(JobOption option, Class<E> type) {
        var text = text(option);
        var word = text.flatMap(given -> parse(type, given));
        if (text.isPresent() && word.isEmpty()) {
            wrong(option, text.get(), expected(List.of(type.getEnumConstants())));
        }
        return word;
    }

    /// The one that was named, with its own option.
    SplitType splitType(List<SplitType> known) {
        var word = text(JobOption.SPLIT_TYPE).orElse("None");
        var named = known.stream().filter(type -> type.toString().equals(word)).findFirst();
        if (named.isEmpty()) {
            wrong(JobOption.SPLIT_TYPE, word, expected(known));
        }
        var type = named.orElse(FramedSplit.NONE);
        for (var given : ofSplitTypes.entrySet()) {
            var flag = given.getKey();
            if (type.option().filter(own -> own.name().equals(flag)).isEmpty()) {
                problem("%s: found it with %s %s, expected none".formatted(flag, JobOption.SPLIT_TYPE.flag(), word));
                continue;
            }
            try {
                type = type.with(given.getValue());
            } catch (IllegalArgumentException e) {
                problem("%s: %s".formatted(flag, e.getMessage()));
            }
        }
        return type;
    }

    /// Whether the second of two words was given; the first stands for nothing too.
    boolean isSecond(JobOption option, String first, String second) {
        var text = text(option).orElse(first);
        if (!text.equals(first) && !text.equals(second)) {
            wrong(option, text, first + " or " + second);
        }
        return text.equals(second);
    }

    OptionalLong quota(JobOption option, int least, long unit) {
        return number(option, least, Integer.MAX_VALUE).stream()
                .mapToLong(n -> n * unit)
                .findFirst();
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
        refuse(option, "a whole number from " + least + end);
        return OptionalInt.empty();
    }

    /// The constant that a word of the API stands for; nothing where it stands for none. Case counts.
    static <E extends Enum<E>> Optional<E> parse(Class<E> type, String word) {
        return Arrays.stream(type.getEnumConstants())
                .filter(constant -> constant.toString().equals(word))
                .findFirst();
    }

    /// Words, to end the sentence "expected …".
    static String expected(List<?> constants) {
        var words = constants.stream().map(Object::toString).toList();
        int last = words.size() - 1;
        return last == 0 ? words.getFirst() : String.join(", ", words.subList(0, last)) + " or " + words.get(last);
    }
}
