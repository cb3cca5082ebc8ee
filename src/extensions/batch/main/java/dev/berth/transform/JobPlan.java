package dev.berth.transform;

import java.util.ArrayList;
import java.util.List;

/// What a job would do.
///
/// @param shares those of all instances
/// @param done how many objects of this instance have their output, so that they would be skipped
/// @param split the objects that several instances share
public record JobPlan(List<Shares.Share> shares, long done, List<Split> split) {

    /// An object that several instances share.
    public record Split(String key, long bytes, int ranges) {}

    /// Lists the objects, and looks for the outputs of this instance's.
    ///
    /// @throws TransformException where there is no object
    public static JobPlan of(TransformJob job) {
        var shares = Shares.of(job, () -> true);
        if (shares.all().stream().allMatch(share -> share.objects() == 0)) {
            throw job.source().none();
        }
        var outputs = new SplitOutputs(job);
        var split = new ArrayList<Split>();
        long done = 0;
        try (var objects = job.source().objects()) {
            for (var each = objects.iterator(); each.hasNext(); ) {
                var ranges = job.ranges(each.next());
                if (ranges.size() > 1) {
                    var object = ranges.getFirst().object();
                    split.add(new Split(object.key(), object.size(), ranges.size()));
                }
                done += job.has(JobOption.OVERWRITE)
                        ? 0
                        : ranges.stream()
                                .filter(shares::isMine)
                                .filter(outputs::isDone)
                                .count();
            }
        }
        return new JobPlan(shares.all(), done, split);
    }
}
