package dev.berth.transform;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/// What a job would do, in lines for people.
public final class JobPlan {

    private static final double MEGABYTE = 1e6;

    private JobPlan() {}

    /// Lists the objects, and looks for the outputs of this instance's.
    ///
    /// @return a table of what each instance has to do
    /// @throws TransformException where there is no object
    public static List<String> of(TransformJob job) {
        var shares = Shares.of(job, () -> true);
        if (shares.all().stream().allMatch(share -> share.objects() == 0)) {
            throw job.source().none();
        }
        var outputs = new SplitOutputs(job);
        long done = 0;
        if (!job.has(JobOption.OVERWRITE)) {
            try (var objects = job.source().objects()) {
                done = objects.flatMap(object -> job.ranges(object).stream())
                        .filter(shares::isMine)
                        .filter(outputs::isDone)
                        .count();
            }
        }
        var lines = new ArrayList<String>();
        lines.add(String.format(Locale.ROOT, "%-9s %9s %12s", "instance", "objects", "MB"));
        for (var share : shares.all()) {
            int instance = lines.size() - 1;
            lines.add(String.format(Locale.ROOT, "%-9s %9d %12.1f", instance, share.objects(), share.bytes() / MEGABYTE)
                    + (instance == job.part().index() ? "  this one; %d have their output".formatted(done) : ""));
        }
        return lines;
    }
}
