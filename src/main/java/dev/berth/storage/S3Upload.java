package dev.berth.storage;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import software.amazon.awssdk.services.s3.model.CompletedPart;

/// One upload in parts. Each part is sent by a virtual thread of its own while the caller gathers the next.
final class S3Upload {

  private final S3Uploads uploads;
  private final String id;
  private final List<CompletedPart> arrived = new ArrayList<>();
  private Sending sending = Sending.NOTHING;

  /// A part on its way.
  private record Sending(FutureTask<CompletedPart> task, Thread thread) {
    private static final Sending NOTHING = new Sending(null, null);
  }

  S3Upload(S3Uploads uploads, String id) {
    this.uploads = uploads;
    this.id = id;
  }

  /// Begins to send the next part, which must not change any more, when the one before has arrived.
  ///
  /// @throws StorageException for the one before
  void send(PartBuffer part) {
    awaitArrival();
    int number = arrived.size() + 1;
    var task = new FutureTask<>(() -> uploads.putPart(id, number, part));
    sending = new Sending(task, Thread.ofVirtual().name("upload " + uploads).start(task));
  }

  /// Makes the object of the parts.
  void complete() {
    awaitArrival();
    uploads.complete(id, arrived);
  }

  /// Ends the upload, and its parts with it.
  void abort() {
    Uninterrupted.run(() -> {
      if (sending != Sending.NOTHING) {
        // A part that arrives after the end would stay.
        sending.thread.interrupt();
        Uninterrupted.join(sending.thread);
      }
      uploads.end(id);
    });
  }

  private void awaitArrival() {
    if (sending == Sending.NOTHING) {
      return;
    }
    try {
      arrived.add(sending.task.get());
      sending = Sending.NOTHING;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw StorageException.retryable(uploads, "interrupted", e);
    } catch (ExecutionException e) {
      if (e.getCause() instanceof StorageException failure) {
        throw failure;
      }
      throw new IllegalStateException(e.getCause());
    }
  }
}
