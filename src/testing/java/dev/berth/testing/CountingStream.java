package dev.berth.testing;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.StreamingHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;

/// Counts part by part. The record `5` is answered by the parts 1 to 5, and `5!3` fails instead of
/// its third one. Of `∞` there is no end.
public class CountingStream implements StreamingHandler<Object, String, String, CountingStream.Count> {

    private final AtomicInteger open = new AtomicInteger();
    private final AtomicInteger parts = new AtomicInteger();

    /// How far a record has come.
    public final class Count implements AutoCloseable {
        private final int last;
        private final int bad;
        private int next = 1;

        private Count(String record) {
            var numbers = record.replace("∞", "2000000000").split("!");
            this.last = Integer.parseInt(numbers[0]);
            this.bad = numbers.length > 1 ? Integer.parseInt(numbers[1]) : -1;
            open.incrementAndGet();
        }

        @Override
        public void close() {
            open.decrementAndGet();
        }
    }

    /// The records that were begun and not closed.
    public int open() {
        return open.get();
    }

    public int parts() {
        return parts.get();
    }

    @Override
    public Object modelFn(ModelContext context) {
        return this;
    }

    @Override
    public List<String> inputFn(InvocationRequest request) throws IOException {
        var text = request.text();
        if (!text.matches("[0-9∞]+(![0-9]+)?")) {
            throw new BadInputException("body: found no number, expected one");
        }
        return List.of(text);
    }

    @Override
    public Count beginFn(String record, Object model) {
        return new Count(record);
    }

    @Override
    public void stepFn(List<PartStream<Count, String>> streams, Object model) {
        for (var stream : streams) {
            var count = stream.state();
            if (count.next == count.bad) {
                stream.fail(new IllegalStateException("part %d failed".formatted(count.bad)));
                continue;
            }
            parts.incrementAndGet();
            stream.emit(Integer.toString(count.next++));
            if (count.next > count.last) {
                stream.end();
            }
        }
    }

    @Override
    public byte[] partFn(String part, int record, InvocationRequest request) {
        return part.getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public String join(String record, List<String> all) {
        return String.join(" ", all);
    }

    @Override
    public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
        return InvocationResponse.of(String.join("\n", predictions), request.accept());
    }
}
