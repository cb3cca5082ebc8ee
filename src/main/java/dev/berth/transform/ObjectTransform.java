package dev.berth.transform;

import dev.berth.hooks.BadInputException;
import dev.berth.memory.MemoryBudget;
import dev.berth.memory.MemoryShare;
import dev.berth.storage.Location;
import dev.berth.storage.ObjectWriter;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.ZipException;

/// Transforms one object, or a range of one: its payloads are sent as they are read, several at the same time, and their
/// answers written in their order. The output appears when it is whole.
///
/// One thread reads and writes; a payload is sent by a thread of its own. What is between reading and writing, of all
/// objects together, is limited, and so is the memory that a job takes, whatever the size of its objects.
///
/// @param contentType of the output
/// @param memory for the payloads between reading and writing, of all objects together. A thread takes what its next
///     payload needs at most, reads it, and gives back what was too much. A thread that holds some must not wait for
///     more: it writes what it has, and gives that memory back
/// @param goOn whether an object goes on where an earlier run was killed
/// @param leastShare of the memory for one payload, however small: so that there are not too many of them
record ObjectTransform(
    ObjectSource source,
    Splitting splitting,
    Optional<RecordProcessing> processing,
    Optional<String> contentType,
    Exchange exchange,
    ExecutorService threads,
    MemoryBudget memory,
    long leastShare,
    Checkpoints checkpoints,
    boolean goOn,
    Progress progress) {

  /// A payload's records, its body, what it is joined with, and its answer.
  private static final int COPIES = 4;

  /// A payload whose output is on its way.
  ///
  /// @param bytes of the object that were read for it
  /// @param isSafeInParts whether it is worth to be kept while the object is not whole
  private record Sent(int records, boolean isSafeInParts, long bytes, MemoryShare share, Future<byte[]> output) {}

  /// @param answered counts the bytes of the object whose answers are written
  /// @return how many records it has
  /// @throws TransformException when a record, its answer, or the storage fails; there is no output then
  long transform(ObjectRange range, Location output, LongAdder answered) throws InterruptedException {
    var object = range.object();
    var sent = new ArrayDeque<Sent>();
    var read = new LongAdder();
    // Before what the source opens of the range.
    long newlines = range.start() == 0 ? 0 : source.newlines(object, range.start() - 1);
    var checkpoint = checkpoints.open(range.checkpointed(), goOn);
    boolean isDone = false;
    try (var in = source.open(range, read); var out = source.storage().create(output, contentType)) {
      var payloads = range.isWhole()
          ? new MiniBatches(in, splitting, processing)
          : MiniBatches.of(range, in, newlines, splitting, processing);
      checkpoint.outputs().forEach(exchange::resumed);
      checkpoint.replay(out);
      payloads.skip(checkpoint.records());
      answered.add(read.sum());
      progress.passed(read.sumThenReset());
      long mostBytes = bytes(payloads.mostBytes(source.mostBytes(object)));
      long records = checkpoint.records();
      while (true) {
        var share = memory.tryTake(mostBytes);
        while (share.isEmpty() && !sent.isEmpty()) {
          // The oldest output is on its way, whatever the other objects do.
          records += write(sent, out, checkpoint, answered);
          share = memory.tryTake(mostBytes);
        }
        var next = send(payloads, share.isPresent() ? share.get() : memory.take(mostBytes), object, read);
        if (next.isEmpty()) {
          break;
        }
        sent.add(next.get());
        while (!sent.isEmpty() && sent.peek().output.isDone()) {
          records += write(sent, out, checkpoint, answered);
        }
      }
      while (!sent.isEmpty()) {
        records += write(sent, out, checkpoint, answered);
      }
      out.commit();
      checkpoint.end();
      isDone = true;
      return records;
    } catch (BadInputException | StorageException e) {
      throw new TransformException(e.getMessage(), e);
    } catch (ZipException e) {
      throw new TransformException("it is not gzip, as CompressionType says: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new TransformException("it can't be read: " + e.getMessage(), e);
    } finally {
      if (!isDone) {
        checkpoint.keep();
      }
      for (var left : sent) {
        left.output.cancel(true);
        left.share.close();
      }
    }
  }

  /// The memory for a payload of so many bytes.
  private long bytes(long payload) {
    return Math.max(COPIES * payload, leastShare);
  }

  /// Reads the next payload and has it sent; nothing at the end of the object.
  private Optional<Sent> send(MiniBatches payloads, MemoryShare share, StoredObject object, LongAdder read)
      throws IOException {
    boolean isSent = false;
    try {
      var next = payloads.next();
      isSent = next.isPresent();
      return next.map(payload -> {
        share.shrinkTo(bytes(payload.bytes()));
        return new Sent(payload.records(), splitting.splitType() != SplitType.NONE, read.sumThenReset(), share,
            threads.submit(() -> exchange.output(payload, object)));
      });
    } finally {
      if (!isSent) {
        share.close();
      }
    }
  }

  /// Writes the oldest output, waiting for it where it is not there.
  private long write(ArrayDeque<Sent> sent, ObjectWriter out, Checkpoints.Checkpoint checkpoint, LongAdder answered)
      throws InterruptedException {
    var oldest = sent.peek();
    try {
      var output = oldest.output.get();
      out.write(output);
      if (oldest.isSafeInParts) {
        checkpoint.add(oldest.records, output);
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof TransformException known) {
        throw known;
      }
      throw new TransformException(e.getCause().toString(), e.getCause());
    }
    sent.remove();
    oldest.share.close();
    answered.add(oldest.bytes);
    progress.answered(oldest.records, oldest.bytes);
    return oldest.records;
  }
}
