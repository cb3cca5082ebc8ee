package dev.berth.testing;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.StreamingHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/// Spells lines: every line of the body is a record, and each of its letters a part, in upper case.
/// Some letters go wrong: `!` makes `stepFn` throw, `?` fails the record, `#` makes `partFn` throw,
/// `_` says nothing for a long time, and `%` is a part of 16 KiB. A line that begins with `0` is
/// refused by `beginFn`.
public class SpellingHandler implements StreamingHandler<Object, String, String, SpellingHandler.Spelling> {

    /// How far a line has been spelt.
    public final class Spelling implements AutoCloseable {
        private final String line;
        private int next;

        private Spelling(String line) {
            this.line = line;
            open.incrementAndGet();
        }

        public String line() {
            return line;
        }

        @Override
        public void close() {
            open.decrementAndGet();
        }
    }

    private final AtomicInteger open = new AtomicInteger();
    private final List<List<String>> steps = new CopyOnWriteArrayList<>();

    /// How many records are being spelt.
    public int open() {
        return open.get();
    }

    /// The lines of each step so far.
    public List<List<String>> steps() {
        return steps;
    }

    @Override
    public Object modelFn(ModelContext context) {
        return this;
    }

    @Override
    public List<String> inputFn(InvocationRequest request) throws IOException {
        return request.text().lines().toList();
    }

    @Override
    public Spelling beginFn(String line, Object model) {
        if (line.startsWith("0")) {
            throw new BadInputException("line: found a 0, expected letters");
        }
        return new Spelling(line);
    }

    @Override
    public void stepFn(List<PartStream<Spelling, String>> streams, Object model) throws Exception {
        steps.add(streams.stream().map(stream -> stream.state().line).toList());
        for (var stream : streams) {
            if (stream.state().line.startsWith("!", stream.state().next)) {
                throw new IllegalStateException("no such letter");
            }
        }
        streams.forEach(this::spell);
    }

    private void spell(PartStream<Spelling, String> stream) {
        var spelling = stream.state();
        if (spelling.next < spelling.line.length()) {
            var letter = spelling.line.substring(spelling.next, ++spelling.next);
            switch (letter) {
                case "?" -> stream.fail(new BadInputException("line: found a ?, expected letters"));
                case "_" -> stream.pause(Duration.ofDays(1));
                default -> stream.emit(letter.toUpperCase(Locale.ROOT));
            }
            if (letter.equals("?")) {
                return;
            }
        }
        if (spelling.next == spelling.line.length()) {
            stream.end();
        }
    }

    @Override
    public byte[] partFn(String part, int record, InvocationRequest request) {
        return switch (part) {
            case "#" -> throw new IllegalArgumentException("can't encode #");
            case "%" -> new byte[16 << 10];
            default -> part.getBytes(StandardCharsets.UTF_8);
        };
    }

    @Override
    public String join(String line, List<String> parts) {
        return String.join("", parts);
    }

    @Override
    public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
        return InvocationResponse.of(String.join("\n", predictions), MediaType.TEXT);
    }

    /// Plain text is streamed too.
    @Override
    public Optional<MediaType> streamedAs(InvocationRequest request) {
        return request.accept().equals(MediaType.TEXT)
                ? Optional.of(MediaType.TEXT)
                : StreamingHandler.super.streamedAs(request);
    }
}
