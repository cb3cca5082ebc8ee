package dev.berth.transform;

/// Is told how a job gets on, by any threads.
public interface Progress {

  /// How far the job is.
  void status(JobStatus status);

  /// The objects that this instance has to do, found so far.
  void found(long objects);

  /// Records of an object that is under way have been answered and written.
  void records(long records);

  /// An object has come to its end.
  void ended(ObjectOutcome outcome);
}
