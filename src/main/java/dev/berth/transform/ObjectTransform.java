package dev.berth.transform;

import dev.berth.hooks.BadInputException;
import dev.berth.storage.Location;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.zip.GZIPInputStream;
import java.util.zip.ZipException;

/// Transforms one object: its payloads are sent as they are read, several at the same time, and their answers written in
/// their order. The output appears when it is whole.
///
/// One thread reads and writes; a payload is sent by a thread of its own. What is between reading and writing, of all
/// objects together, is limited, and so is the memory that a job takes, whatever the size of its objects.
final class ObjectTransform {

  private static final byte[] NEWLINE = {'\n'};

  private final TransformJob job;
  private final Storage storage;
  private final Splitting splitting;
  private final Optional<RecordProcessing> processing;
  private final Invoker invoker;
  private final ExecutorService threads;
  private final Semaphore slots;
  private final Progress progress;

  /// @param slots as many as payloads may be between reading and writing
  ObjectTransform(
      TransformJob job,
      Storage storage,
      Splitting splitting,
      Invoker invoker,
      ExecutorService threads,
      Semaphore slots,
      Progress progress) {
    this.job = job;
    this.storage = storage;
    this.splitting = splitting;
    this.processing = job.processing().processing(job.formats());
    this.invoker = invoker;
    this.threads = threads;
    this.slots = slots;
    this.progress = progress;
  }

  /// A payload whose answer is on its way.
  private record Sent(Payload payload, Future<byte[]> answer) {}

  /// @return how many records it has
  /// @throws TransformException when a record, its answer, or the storage fails; there is no output then
  long transform(StoredObject object, Location output) throws InterruptedException {
    var sent = new ArrayDeque<Sent>();
    try (var in = open(object); var out = storage.create(output, job.formats().accept())) {
      var payloads = new MiniBatches(in, splitting, processing);
      long records = 0;
      for (var payload = payloads.next(); payload.isPresent(); payload = payloads.next()) {
        while (!slots.tryAcquire()) {
          // The oldest answer is on its way, whatever the other objects do.
          if (sent.isEmpty()) {
            slots.acquire();
            break;
          }
          records += write(sent, out);
        }
        sent.add(send(payload.get(), object));
        while (!sent.isEmpty() && sent.peek().answer.isDone()) {
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
        left.answer.cancel(true);
        slots.release();
      }
    }
  }

  private InputStream open(StoredObject object) throws IOException {
    var in = storage.open(object.location());
    return job.gzip() ? new GZIPInputStream(in, 1 << 16) : in;
  }

  private Sent send(Payload payload, StoredObject object) {
    Callable<byte[]> call = switch (payload) {
      case Payload.MiniBatch batch -> () -> invoker.invoke(batch.body());
      // Opened anew for each attempt, and closed by the client.
      case Payload.WholeObject _ -> () -> invoker.invokeStream(() -> {
        try {
          return open(object);
        } catch (IOException e) {
          throw new java.io.UncheckedIOException(e);
        }
      });
    };
    return new Sent(payload, threads.submit(call));
  }

  /// Writes the oldest answer, waiting for it where it is not there.
  private long write(ArrayDeque<Sent> sent, ObjectWriter out) throws InterruptedException {
    var oldest = sent.peek();
    byte[] answer;
    try {
      answer = oldest.answer.get();
    } catch (ExecutionException e) {
      throw new TransformException("%s: %s".formatted(place(oldest.payload), e.getCause().getMessage()), e.getCause());
    }
    sent.remove();
    slots.release();
    long records = switch (oldest.payload) {
      case Payload.MiniBatch batch -> {
        assemble(processing.map(filters -> filters.output(batch, answer)).orElse(answer), out);
        yield batch.records();
      }
      case Payload.WholeObject _ -> {
        assemble(answer, out);
        yield 1;
      }
    };
    progress.records(records);
    return records;
  }

  /// A newline after each answer, unless it ends in one: no line of the output is blank that the container did not want.
  private void assemble(byte[] answer, ObjectWriter out) {
    out.write(answer);
    if (job.formats().assembleWith() == AssembleWith.LINE && (answer.length == 0 || answer[answer.length - 1] != '\n')) {
      out.write(NEWLINE);
    }
  }

  private static String place(Payload payload) {
    return switch (payload) {
      case Payload.MiniBatch batch when batch.records() == 1 -> "record " + batch.firstRecord();
      case Payload.MiniBatch batch -> "records %d to %d".formatted(
          batch.firstRecord(), batch.firstRecord() + batch.records() - 1);
      case Payload.WholeObject _ -> "the object";
    };
  }
}
