package dev.berth.transform;

import dev.berth.storage.Storage;
import java.util.List;

/// What a job would do.
///
/// @param shares those of all instances
/// @param done how many objects of this instance have their output, so that they would be skipped
public record JobPlan(List<Shares.Share> shares, long done) {

  /// Lists the objects, and looks for the outputs of this instance's.
  ///
  /// @throws TransformException where there is no object
  public static JobPlan of(TransformJob job, Storage storage) {
    var shares = Shares.of(job, storage, () -> true);
    if (shares.all().stream().allMatch(share -> share.objects() == 0)) {
      throw JobObjects.none(job);
    }
    if (job.overwrite()) {
      return new JobPlan(shares.all(), 0);
    }
    try (var objects = JobObjects.of(job, storage)) {
      return new JobPlan(shares.all(), objects
          .filter(shares::isMine).filter(object -> storage.exists(job.output(object))).count());
    }
  }
}
