package dev.berth.transform;

import dev.berth.hooks.BadInputException;
import dev.berth.memory.MemoryBudget;
import dev.berth.memory.MemoryShare;
import dev.berth.storage.Location;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import dev.berth.transform.checkpoint.Checkpoint;
import dev.berth.transform.checkpoint.Checkpoints;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.ArrayDeque;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.LongAdder;
import java.util.zip.ZipException;

/// Transforms one object, or a range of one: its payloads are sent as they are read, several at the
/// same time, and their answers written in their order. The output appears when it is whole.
///
/// One thread reads and writes; a payload is sent by a thread of its own. What is between reading
/// and writing, of all objects together, is limited, and so is the memory that a job takes,
/// whatever the size of its objects. An object is opened before its [turn][ObjectTurns] comes, and
/// put in place when that is over.
///
/// @param contentType of the output
/// @param memory for the payloads between reading and writing, of all objects together. A thread
///   takes what its next payload needs at most, reads it, and gives back what was too much. A
///   thread that holds some must not wait for more: it writes what it has, and gives that memory
///   back
/// @param tables where objects are tables
/// @param goOn whether an object goes on where an earlier run was killed
/// @param leastShare of the memory for one payload, however small: so that there are not too many
///   of them
record ObjectTransform(
    ObjectSource source,
    Splitting splitting,
    Optional<RecordProcessing> processing,
    Optional<String> contentType,
    Exchange exchange,
    ExecutorService threads,
    ObjectTurns turns,
    MemoryBudget memory,
    long leastShare,
    Checkpoints checkpoints,
    boolean goOn,
    Progress progress,
    Optional<TableJob> tables) {

  /// A payload's records, its body, what it is joined with, and its answer.
  static final int COPIES = 4;

  /// A payload whose output is on its way.
  ///
  /// @param isKept whether an earlier run has made its output
  /// @param isSafeInParts whether it is worth to be kept while the object is not whole
  /// @param bytes of the object that were read for it
  private record Sent(
      int records,
      boolean isKept,
      boolean isSafeInParts,
      long bytes,
      MemoryShare share,
      Future<byte[]> output) {}

  /// @param answered counts the bytes of the object whose answers are written
  /// @return how many records it has; nothing where it has not been begun, as the job ends
  /// @throws TransformException when a record, its answer, or the storage fails; there is no output
  ///   then
  OptionalLong transform(ObjectRange range, Location output, LongAdder answered)
      throws InterruptedException {
    try {
      return tables.isPresent()
          ? ofTable(range, output, answered)
          : ofStream(range, output, answered);
    } catch (BadInputException | StorageException e) {
      throw new TransformException(e.getMessage(), e);
    } catch (ZipException e) {
      throw new TransformException(
          "it is not whole gzip, as CompressionType says: " + e.getMessage(), e);
    } catch (IOException e) {
      throw new TransformException("it can't be read: " + e.getMessage(), e);
    }
  }

  private OptionalLong ofTable(ObjectRange range, Location output, LongAdder answered)
      throws IOException, InterruptedException {
    var read = new LongAdder();
    try (var table =
        new TableObject(
            tables.get(), source.storage(), range.object(), splitting.maxRecord(), read)) {
      return inTurn(
          range,
          new MiniBatches(table, splitting, processing),
          Optional.of(table),
          read,
          output,
          answered);
    }
  }

  private OptionalLong ofStream(ObjectRange range, Location output, LongAdder answered)
      throws IOException, InterruptedException {
    var read = new LongAdder();
    // Before what the source opens of the range.
    long newlines = range.start() == 0 ? 0 : source.newlines(range.object(), range.start() - 1);
    try (var in = source.open(range, read)) {
      return inTurn(range, payloads(range, in, newlines), Optional.empty(), read, output, answered);
    }
  }

  private MiniBatches payloads(ObjectRange range, InputStream in, long newlines)
      throws IOException {
    return range.isWhole()
        ? new MiniBatches(in, splitting, processing)
        : MiniBatches.of(range, in, newlines, splitting, processing);
  }

  private OptionalLong inTurn(
      ObjectRange range,
      MiniBatches payloads,
      Optional<TableObject> table,
      LongAdder read,
      Location output,
      LongAdder answered)
      throws IOException, InterruptedException {
    var next = turns.take();
    if (next.isEmpty()) {
      return OptionalLong.empty();
    }
    try (var turn = next.get()) {
      return OptionalLong.of(transform(range, payloads, table, read, output, answered, turn));
    }
  }

  private long transform(
      ObjectRange range,
      MiniBatches payloads,
      Optional<TableObject> table,
      LongAdder read,
      Location output,
      LongAdder answered,
      ObjectTurns.Turn turn)
      throws IOException, InterruptedException {
    var sent = new ArrayDeque<Sent>();
    var object = range.object();
    var checkpoint = checkpoints.open(range.checkpointed(), goOn);
    boolean isDone = false;
    try (var writer = source.storage().create(output, contentType)) {
      var out = table.map(rows -> rows.answers(writer)).orElse(writer);
      // Of a table that is packed.
      long mostBytes =
          bytes(payloads.mostBytes(table.isPresent() ? Long.MAX_VALUE : source.mostBytes(object)));
      // A record may be as long as all memory, and hardly any is. One that is gets its share when
      // it is there.
      long expected = mostBytes <= memory.bytes() / 2 ? mostBytes : leastShare;
      var records = new Counted();
      while (true) {
        var free = memory.tryTake(expected);
        while (free.isEmpty() && !sent.isEmpty()) {
          // The oldest output is on its way, whatever the other objects do.
          write(sent, out, checkpoint, records, answered);
          free = memory.tryTake(expected);
        }
        var share = free.isPresent() ? free.get() : memory.take(expected);
        var next = next(payloads, share);
        if (next.isEmpty()) {
          break;
        }
        if (bytes(next.get().bytes()) > expected) {
          share.close();
          while (!sent.isEmpty()) {
            write(sent, out, checkpoint, records, answered);
          }
          share = memory.take(bytes(next.get().bytes()));
        }
        try {
          sent.add(send(next.get(), share, object, records, checkpoint, read));
        } catch (RuntimeException e) {
          share.close();
          throw e;
        }
        while (!sent.isEmpty() && sent.peek().output.isDone()) {
          write(sent, out, checkpoint, records, answered);
        }
      }
      while (!sent.isEmpty()) {
        write(sent, out, checkpoint, records, answered);
      }
      if (table.isPresent()) {
        table.get().write(writer);
      }
      turn.pass(records.bytes);
      writer.commit();
      checkpoint.end();
      isDone = true;
      return records.written;
    } finally {
      for (var left : sent) {
        left.output.cancel(true);
        left.share.close();
      }
      if (!isDone) {
        checkpoint.keep();
      }
    }
  }

  /// How far an object is: records that were sent and written, and the bytes of its output. For one
  /// thread.
  private static final class Counted {
    private long sent;
    private long written;
    private long bytes;
  }

  /// The memory for a payload of so many bytes.
  private long bytes(long payload) {
    return Math.max(COPIES * payload, leastShare);
  }

  /// Reads the next payload, and gives the share back where there is none, or more of it than that
  /// needs.
  private Optional<Payload> next(MiniBatches payloads, MemoryShare share) throws IOException {
    boolean isThere = false;
    try {
      var next = payloads.next();
      isThere = next.isPresent();
      next.ifPresent(payload -> share.shrinkTo(bytes(payload.bytes())));
      return next;
    } finally {
      if (!isThere) {
        share.close();
      }
    }
  }

  /// Has a payload sent, unless an earlier run has its output.
  private Sent send(
      Payload payload,
      MemoryShare share,
      StoredObject object,
      Counted records,
      Checkpoint checkpoint,
      LongAdder read) {
    boolean isSafeInParts = splitting.splitType() != SplitType.NONE;
    long first = records.sent + 1;
    records.sent += payload.records();
    var kept =
        isSafeInParts ? checkpoint.answer(first, payload.records()) : Optional.<byte[]>empty();
    kept.ifPresent(exchange::resumed);
    var output =
        kept.<Future<byte[]>>map(CompletableFuture::completedFuture)
            .orElseGet(
                () ->
                    threads.submit(
                        () ->
                            turns.request(
                                () -> {
                                  var made = exchange.output(payload, object);
                                  if (isSafeInParts) {
                                    checkpoint.arrived(first, payload.records(), made);
                                  }
                                  return made;
                                })));
    return new Sent(
        payload.records(), kept.isPresent(), isSafeInParts, read.sumThenReset(), share, output);
  }

  /// Writes the oldest output, waiting for it where it is not there.
  private void write(
      ArrayDeque<Sent> sent,
      OutputStream out,
      Checkpoint checkpoint,
      Counted records,
      LongAdder answered)
      throws IOException, InterruptedException {
    var oldest = sent.peek();
    try {
      var output = oldest.output.get();
      out.write(output);
      records.bytes += output.length;
      if (oldest.isSafeInParts && !oldest.isKept) {
        checkpoint.written(records.written + 1, oldest.records, output);
      }
    } catch (ExecutionException e) {
      if (e.getCause() instanceof TransformException known) {
        throw known;
      }
      throw new TransformException(e.getCause().toString(), e.getCause());
    }
    sent.remove();
    oldest.share.close();
    records.written += oldest.records;
    answered.add(oldest.bytes);
    if (oldest.isKept) {
      progress.passed(oldest.bytes);
    } else {
      progress.answered(oldest.records, oldest.bytes);
    }
  }
}
