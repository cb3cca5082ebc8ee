package dev.berth.transform;

import dev.berth.hooks.BadInputException;
import dev.berth.storage.StorageException;
import dev.berth.storage.StoredObject;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.Optional;

/// SageMaker's way: the container gets the payload, and its answer is joined, filtered and written.
record TransformExchange(
    TransformJob job, Optional<RecordProcessing> processing, Invoker invoker, ObjectSource source) implements Exchange {

  @Override
  public byte[] output(Payload payload, StoredObject object) throws InterruptedException {
    try {
      return assembled(switch (payload) {
        case Payload.MiniBatch batch -> {
          var answer = invoker.invoke(batch.body());
          yield processing.map(filters -> filters.output(batch, answer)).orElse(answer);
        }
        // Opened anew for each attempt, and closed by the client.
        case Payload.WholeObject _ -> invoker.invokeStream(() -> {
          try {
            return source.open(object);
          } catch (IOException e) {
            throw new UncheckedIOException(e);
          }
        });
      });
    } catch (InvocationException e) {
      throw new TransformException("%s: %s".formatted(place(payload), e.getMessage()), e);
    } catch (BadInputException | StorageException e) {
      throw new TransformException(e.getMessage(), e);
    }
  }

  /// A newline after each answer, unless it ends in one: no line of the output is blank that the container did not want.
  private byte[] assembled(byte[] answer) {
    if (job.formats().assembleWith() == AssembleWith.NONE || (answer.length > 0 && answer[answer.length - 1] == '\n')) {
      return answer;
    }
    var line = Arrays.copyOf(answer, answer.length + 1);
    line[answer.length] = '\n';
    return line;
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
