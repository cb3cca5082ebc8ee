package dev.berth.storage;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import software.amazon.awssdk.services.s3.S3Client;
import software.amazon.awssdk.services.s3.model.CompletedPart;
import software.amazon.awssdk.services.s3.model.S3Exception;

/// Makes an object of others, as one upload whose parts S3 copies. A part of an upload has 5 MiB at
/// least, unless it is the last: what is shorter is read and sent together with the beginning of
/// the next object.
///
/// Another process may be at the same. Neither ends the upload of the other before its own is
/// complete, so one of them succeeds always. For one thread.
final class S3Join {

  private static final int LEAST_PART = 5 << 20;
  private static final long MOST_COPIED_AT_ONCE = 256L << 20;

  /// S3 copies some 100 MB a second for one request.
  private static final int COPIES = 8;

  private static final int NOT_IMPLEMENTED = 501;

  private final S3Client client;
  private final S3Uploads uploads;
  private final RetryPolicy retries;
  private final ExecutorService threads = Executors.newVirtualThreadPerTaskExecutor();
  private final Semaphore permits = new Semaphore(COPIES);
  private final List<Future<CompletedPart>> arriving = new ArrayList<>();

  S3Join(S3Client client, S3Uploads uploads, RetryPolicy retries) {
    this.client = client;
    this.uploads = uploads;
    this.retries = retries;
  }

  /// @return false where the objects are too short for an upload in parts, or the server can't copy
  boolean join(List<StoredObject> objects) {
    long bytes = objects.stream().mapToLong(StoredObject::size).sum();
    if (bytes < LEAST_PART) {
      return false;
    }
    var id = uploads.beginBesideOthers();
    boolean isComplete = false;
    try {
      begin(id, objects, Math.max(MOST_COPIED_AT_ONCE, 2 * bytes / S3Writer.MOST_PARTS));
      uploads.complete(id, arriving.stream().map(uploads::arrived).toList());
      isComplete = true;
    } catch (StorageException e) {
      if (e.getCause() instanceof S3Exception answer && answer.statusCode() == NOT_IMPLEMENTED) {
        return false;
      }
      throw e;
    } finally {
      boolean others = isComplete;
      S3Uploads.uninterrupted(
          () -> {
            // A part that arrives after the end would stay.
            threads.shutdownNow();
            threads.close();
            if (others) {
              uploads.endOthers(id);
            } else {
              uploads.end(id);
            }
          });
    }
    return true;
  }

  /// Begins to copy or send all parts.
  private void begin(String id, List<StoredObject> objects, long mostCopied) {
    var pending = new PartBuffer();
    for (var object : objects) {
      long at = 0;
      if (pending.size() > 0) {
        at = Math.min(object.size(), LEAST_PART - pending.size());
        read(object, 0, at, pending);
        if (pending.size() == LEAST_PART) {
          send(id, pending);
          pending = new PartBuffer();
        }
      }
      while (object.size() - at >= LEAST_PART) {
        long end = Math.min(object.size(), at + mostCopied);
        copy(id, object, at, end);
        at = end;
      }
      read(object, at, object.size(), pending);
    }
    if (pending.size() > 0) {
      send(id, pending);
    }
  }

  private void copy(String id, StoredObject object, long start, long end) {
    int number = arriving.size() + 1;
    arriving.add(
        threads.submit(
            () -> {
              permits.acquire();
              try {
                return uploads.copyPart(id, number, (Location.S3) object.location(), start, end);
              } finally {
                permits.release();
              }
            }));
  }

  private void send(String id, PartBuffer part) {
    int number = arriving.size() + 1;
    arriving.add(threads.submit(() -> uploads.putPart(id, number, part)));
  }

  private void read(StoredObject object, long start, long end, PartBuffer buffer) {
    if (start == end) {
      return;
    }
    try (var in = new S3Reader(client, (Location.S3) object.location(), retries, start)) {
      var bytes = in.readNBytes((int) (end - start));
      buffer.add(bytes, 0, bytes.length);
    } catch (IOException e) {
      throw StorageException.retryable(object.location(), "can't be joined: " + e.getMessage(), e);
    }
  }
}
