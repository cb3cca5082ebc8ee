package dev.berth.storage;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import software.amazon.awssdk.services.s3.model.CompletedPart;

/// One upload in parts. Each part is sent by a virtual thread of its own while the caller gathers
/// the next.
final class S3Upload {

  private final S3Uploads uploads;
  private final String id;
  private final List<CompletedPart> arrived = new ArrayList<>();
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();

  /// The part on its way; null for none.
  private Future<CompletedPart> sending;

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
    sending = threads.submit(() -> uploads.putPart(id, number, part));
  }

  /// Makes the object of the parts.
  void complete() {
    awaitArrival();
    threads.close();
    uploads.complete(id, arrived);
  }

  /// Ends the upload, and its parts with it.
  void abort() {
    S3Uploads.uninterrupted(
        () -> {
          // A part that arrives after the end would stay.
          threads.shutdownNow();
          threads.close();
          uploads.end(id);
        });
  }

  private void awaitArrival() {
    if (sending == null) {
      return;
    }
    arrived.add(uploads.arrived(sending));
    sending = null;
  }
}
