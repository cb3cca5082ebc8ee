package dev.berth.transform;

import dev.berth.content.JsonLines;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.MediaType;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Optional;
import java.util.concurrent.atomic.LongAdder;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/// SageMaker's way: the container gets the payload, and its answer is joined, filtered and written.
///
/// @param errors how the error of a bad record is written
/// @param kept counts these errors
record TransformExchange(
    TransformJob job,
    Optional<RecordProcessing> processing,
    RecordFormat errors,
    Invoker invoker,
    ObjectSource source,
    LongAdder kept)
    implements Exchange {

  /// An error that stands in the place of an answer names the line within its request.
  private static final Pattern PLACE_OF_ERROR =
      Pattern.compile("(?m)^(\\{\"error\":\"|\"?ERROR: )(line|row) (\\d{1,9}): ");

  @Override
  public byte[] output(Payload payload, StoredObject object) throws InterruptedException {
    try {
      return switch (payload) {
        case Payload.MiniBatch batch -> output(batch);
        case Payload.Rejected record -> assembled(error(record), Optional.of(MediaType.JSON_LINES));
        // Opened anew for each attempt, and closed by the client.
        case Payload.WholeObject _ -> {
          var answer =
              invoker.invokeStream(
                  () -> {
                    try {
                      return source.open(object);
                    } catch (IOException e) {
                      throw new UncheckedIOException(e);
                    }
                  });
          yield assembled(answer.body(), answer.type());
        }
      };
    } catch (InvocationException e) {
      throw new TransformException("the object: " + e.getMessage(), e);
    } catch (BadInputException | StorageException e) {
      throw new TransformException(e.getMessage(), e);
    }
  }

  private byte[] output(Payload.MiniBatch batch) throws InterruptedException {
    if (job.keepsBadRecords() && batch.isBlank()) {
      return batch.records() > 1
          ? inHalves(batch)
          : kept(
              batch,
              "line %d: found a blank line, expected a record".formatted(batch.firstRecord()));
    }
    try {
      var answer = invoker.invoke(batch.body());
      var body =
          job.keepsBadRecords() ? numbered(answer.body(), batch.firstRecord()) : answer.body();
      if (processing.isPresent()) {
        return assembled(processing.get().output(batch, body), answer.type());
      }
      requireOneForEach(batch, answer);
      return assembled(body, answer.type());
    } catch (InvocationException e) {
      if (!job.keepsBadRecords() || !e.isOfThePayload()) {
        throw new TransformException(
            "%s: %s".formatted(place(batch), e.inObject(batch.firstRecord()).getMessage()), e);
      }
      return batch.records() == 1
          ? kept(batch, e.inObject(batch.firstRecord()).reasonFor(batch.firstRecord()))
          : inHalves(batch);
    }
  }

  /// Asks for the records of a rejected payload in two payloads, so that those that are not bad are
  /// answered.
  private byte[] inHalves(Payload.MiniBatch batch) throws InterruptedException {
    var output = new ByteArrayOutputStream();
    for (var half : batch.halves()) {
      output.writeBytes(output(half));
    }
    return output.toByteArray();
  }

  private byte[] kept(Payload.MiniBatch record, String reason) {
    var rejected = new Payload.Rejected(record.input(), reason);
    return assembled(error(rejected), Optional.of(MediaType.JSON_LINES));
  }

  private byte[] error(Payload.Rejected record) {
    kept.increment();
    return processing
        .map(filters -> filters.error(record))
        .orElseGet(
            () -> errors.write(errors.error(record.reason())).getBytes(StandardCharsets.UTF_8));
  }

  /// The errors among answers, with the lines as their object counts them.
  private byte[] numbered(byte[] answer, long first) {
    // Byte for byte, whatever the encoding is.
    var text = new String(answer, StandardCharsets.ISO_8859_1);
    return PLACE_OF_ERROR
        .matcher(text)
        .replaceAll(
            error -> {
              kept.increment();
              return Matcher.quoteReplacement(
                  "%s%s %d: "
                      .formatted(
                          error.group(1),
                          error.group(2),
                          first - 1 + Integer.parseInt(error.group(3))));
            })
        .getBytes(StandardCharsets.ISO_8859_1);
  }

  /// No answer may be taken for that of another record.
  private void requireOneForEach(Payload.MiniBatch batch, Invoker.Answer answer) {
    if (job.formats().splitType() != SplitType.LINE) {
      return;
    }
    var count = AnswerCount.of(answer.body(), answer.type());
    // A list may be the answer to one record.
    boolean mayBeOne = batch.records() == 1 && answer.type().equals(Optional.of(MediaType.JSON));
    if (count.isPresent() && count.getAsInt() != batch.records() && !mayBeOne) {
      throw new TransformException(
          RecordProcessing.miscounted(
              batch.firstRecord(),
              batch.records(),
              count.getAsInt(),
              job.formats().lines().equals(Optional.of(MediaType.CSV))),
          null);
    }
  }

  /// A newline after each answer, unless it ends in one: no line of the output is blank that the
  /// container did not want. Where records are lines, the texts of two answers never share one.
  private byte[] assembled(byte[] answer, Optional<MediaType> type) {
    boolean isLine =
        job.formats().assembleWith() == AssembleWith.LINE
            || (job.formats().splitType() == SplitType.LINE
                && answer.length > 0
                && type.filter(TransformExchange::isText).isPresent());
    if (!isLine || (answer.length > 0 && answer[answer.length - 1] == '\n')) {
      return answer;
    }
    var line = Arrays.copyOf(answer, answer.length + 1);
    line[answer.length] = '\n';
    return line;
  }

  private static boolean isText(MediaType type) {
    return type.type().equals("text")
        || type.equals(MediaType.JSON)
        || JsonLines.TYPES.contains(type);
  }

  private static String place(Payload.MiniBatch batch) {
    return batch.records() == 1
        ? "record " + batch.firstRecord()
        : "records %d to %d"
            .formatted(batch.firstRecord(), batch.firstRecord() + batch.records() - 1);
  }
}
