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
  private final PayloadRoom room;
  private final Progress progress;

  /// @param contentType of the output
  ObjectTransform(
      ObjectReader reader,
      Splitting splitting,
      Optional<RecordProcessing> processing,
      Optional<String> contentType,
      Exchange exchange,
      ExecutorService threads,
      PayloadRoom room,
      Progress progress) {
    this.reader = reader;
    this.storage = reader.storage();
    this.splitting = splitting;
    this.processing = processing;
    this.contentType = contentType;
    this.exchange = exchange;
    this.threads = threads;
    this.room = room;
    this.progress = progress;
  }

  /// A payload whose output is on its way.
  private record Sent(int records, PayloadRoom.Place place, Future<byte[]> output) {}

  /// @return how many records it has
  /// @throws TransformException when a record, its answer, or the storage fails; there is no output then
  long transform(StoredObject object, Location output) throws InterruptedException {
    var sent = new ArrayDeque<Sent>();
    try (var in = reader.open(object); var out = storage.create(output, contentType)) {
      var payloads = new MiniBatches(in, splitting, processing);
      long mostBytes = payloads.mostBytes(reader.mostBytes(object));
      long records = 0;
      while (true) {
        var place = room.tryTake(mostBytes);
        while (place.isEmpty() && !sent.isEmpty()) {
          // The oldest output is on its way, whatever the other objects do.
          records += write(sent, out);
          place = room.tryTake(mostBytes);
        }
        var next = send(payloads, place.isPresent() ? place.get() : room.take(mostBytes), object);
        if (next.isEmpty()) {
          break;
        }
        sent.add(next.get());
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
        left.place.close();
      }
    }
  }

  /// Reads the next payload and has it sent; nothing at the end of the object.
  private Optional<Sent> send(MiniBatches payloads, PayloadRoom.Place place, StoredObject object) throws IOException {
    boolean isSent = false;
    try {
      var next = payloads.next();
      isSent = next.isPresent();
      return next.map(payload -> {
        place.shrinkTo(payload.bytes());
        return new Sent(payload.records(), place, threads.submit(() -> exchange.output(payload, object)));
      });
    } finally {
      if (!isSent) {
        place.close();
      }
    }
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
    oldest.place.close();
    progress.records(oldest.records);
    return oldest.records;
  }
}
