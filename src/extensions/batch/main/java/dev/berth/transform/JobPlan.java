package dev.berth.transform;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What a job would do, in lines for people.
public final class JobPlan {

    private static final int MOST_SPLIT_SHOWN = 20;
    private static final double MEGABYTE = 1e6;

    private JobPlan() {}

    /// Lists the objects, and looks for the outputs of this instance's.
    ///
    /// @return a table of what each instance has to do, and the objects that several instances share
    /// @throws TransformException where there is no object
    public static List<String> of(TransformJob job) {
        var shares = Shares.of(job, () -> true);
        if (shares.all().stream().allMatch(share -> share.objects() == 0)) {
            throw job.source().none();
        }
        var outputs = new SplitOutputs(job);
        var split = new ArrayList<String>();
        long done = 0;
        try (var objects = job.source().objects()) {
            for (var each = objects.iterator(); each.hasNext(); ) {
                var ranges = job.ranges(each.next());
                if (ranges.size() > 1) {
                    var object = ranges.getFirst().object();
                    split.add(line(
                            "%s: %d ranges of %.1f MB",
                            object.key(), ranges.size(), object.size() / MEGABYTE / ranges.size()));
                }
                done += job.has(JobOption.OVERWRITE)
                        ? 0
                        : ranges.stream()
                                .filter(shares::isMine)
                                .filter(outputs::isDone)
                                .count();
            }
        }
        var lines = new ArrayList<String>();
        lines.add(line("%-9s %9s %12s", "instance", "objects", "MB"));
        for (var share : shares.all()) {
            int instance = lines.size() - 1;
            lines.add(line("%-9s %9d %12.1f", instance, share.objects(), share.bytes() / MEGABYTE)
                    + (instance == job.part().index() ? "  this one; %d have their output".formatted(done) : ""));
        }
        split.stream().limit(MOST_SPLIT_SHOWN).forEach(lines::add);
        if (split.size() > MOST_SPLIT_SHOWN) {
            lines.add(line("and %d more objects are split", split.size() - MOST_SPLIT_SHOWN));
        }
        return lines;
    }

    @SuppressWarnings("AnnotateFormatMethod") // That would need one more library.
    private static String line(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }
}
