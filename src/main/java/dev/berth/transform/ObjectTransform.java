package dev.berth.transform;

import dev.berth.hooks.BadInputException;
import dev.berth.storage.Location;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.zip.ZipException;

/// Transforms one object: its payloads are sent as they are read, several at the same time, and their answers written in
/// their order. The output appears when it is whole.
///
/// One thread reads and writes; a payload is sent by a thread of its own. What is between reading and writing, of all
/// objects together, is limited, and so is the memory that a job takes, whatever the size of its objects.
final class ObjectTransform {

  private final ObjectReader reader;
  private final Storage storage;
  private final Splitting splitting;
  private final Optional<RecordProcessing> processing;
  private final Optional<String> contentType;
  private final Exchange exchange;
  private final ExecutorService threads;
  private final Semaphore slots;
  private final Progress progress;

  /// @param contentType of the output
  /// @param slots as many as payloads may be between reading and writing
  ObjectTransform(
      ObjectReader reader,
      Splitting splitting,
      Optional<RecordProcessing> processing,
      Optional<String> contentType,
      Exchange exchange,
      ExecutorService threads,
      Semaphore slots,
      Progress progress) {
    this.reader = reader;
    this.storage = reader.storage();
    this.splitting = splitting;
    this.processing = processing;
    this.contentType = contentType;
    this.exchange = exchange;
    this.threads = threads;
    this.slots = slots;
    this.progress = progress;
  }

  /// A payload whose output is on its way.
  private record Sent(int records, Future<byte[]> output) {}

  /// @return how many records it has
  /// @throws TransformException when a record, its answer, or the storage fails; there is no output then
  long transform(StoredObject object, Location output) throws InterruptedException {
    var sent = new ArrayDeque<Sent>();
    try (var in = reader.open(object); var out = storage.create(output, contentType)) {
      var payloads = new MiniBatches(in, splitting, processing);
      long records = 0;
      for (var payload = payloads.next(); payload.isPresent(); payload = payloads.next()) {
        while (!slots.tryAcquire()) {
          // The oldest output is on its way, whatever the other objects do.
          if (sent.isEmpty()) {
            slots.acquire();
            break;
          }
          records += write(sent, out);
        }
        sent.add(send(payload.get(), object));
        while (!sent.isEmpty() && sent.peek().output.isDone()) {
          records += write(sent, out);
        }
      }
      while (!sent.isEmpty()) {
        records += write(sent, out);
      }
      out.commit();
      return records;
    } catch (BadInputException | StorageException e) {
      throw new TransformException(e.getMessage(), e);
    } catch (ZipException e) {
      throw new TransformException("it is not gzip, as CompressionType says: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new TransformException("it can't be read: " + e.getMessage(), e);
    } finally {
      for (var left : sent) {
        left.output.cancel(true);
        slots.release();
      }
    }
  }

  private Sent send(Payload payload, StoredObject object) {
    int records = switch (payload) {
      case Payload.MiniBatch batch -> batch.records();
      case Payload.WholeObject _ -> 1;
    };
    return new Sent(records, threads.submit(() -> exchange.output(payload, object)));
  }

  /// Writes the oldest output, waiting for it where it is not there.
  private long write(ArrayDeque<Sent> sent, ObjectWriter out) throws InterruptedException {
    var oldest = sent.peek();
    try {
      out.write(oldest.output.get());
    } catch (ExecutionException e) {
      if (e.getCause() instanceof TransformException known) {
        throw known;
      }
      throw new TransformException(e.getCause().toString(), e.getCause());
    }
    sent.remove();
    slots.release();
    progress.records(oldest.records);
    return oldest.records;
  }
}
