package dev.berth.transform;

import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.berth.config.ConfigurationException;
import dev.berth.storage.Storage;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.Iterator;
import java.util.List;
import java.util.Map;

/// Options of jobs, as users write them.
public final class JobFlags {

    private JobFlags() {}

    /// @param flags with their values, as `--split-type Line --input %s`; a switch has the value `true`
    /// @param values stand in the place of each `%s`, whatever characters they have
    public static EnumMap<JobOption, String> of(String flags, Object... values) {
        var options = new EnumMap<JobOption, String>(JobOption.class);
        var left = List.of(values).iterator();
        for (var words = List.of(flags.split(" ")).iterator(); words.hasNext(); ) {
            var flag = words.next();
            var option = Arrays.stream(JobOption.values())
                    .filter(each -> each.flag().equals(flag))
                    .findFirst()
                    .orElseThrow(() -> new IllegalArgumentException(flag));
            options.put(option, value(words.next(), left));
        }
        return options;
    }

    private static String value(String word, Iterator<Object> left) {
        return word.equals("%s") ? left.next().toString() : word;
    }

    static TransformJob read(Map<JobOption, String> options) {
        return TransformJob.read(new Storage(), options, Map.of());
    }

    /// What is wrong with a job.
    static List<String> problems(Map<JobOption, String> options) {
        return catchThrowableOfType(ConfigurationException.class, () -> read(options))
                .problems();
    }
}
