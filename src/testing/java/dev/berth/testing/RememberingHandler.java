package dev.berth.testing;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.SessionHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicInteger;

/// Remembers the lines of a session, and answers with all of them. Without a session, as
/// [TextHandler] does.
public class RememberingHandler extends TextHandler implements SessionHandler<RememberingHandler.Notes> {

    /// What a session remembers.
    public final class Notes implements AutoCloseable {
        private final List<String> lines = new ArrayList<>();
        private final AtomicInteger inside = new AtomicInteger();

        @Override
        public void close() {
            if (inside.get() != 0) {
                throw new IllegalStateException("found a request inside");
            }
            closed.add(this);
        }
    }

    private final List<Notes> opened = new CopyOnWriteArrayList<>();
    private final List<Notes> closed = new CopyOnWriteArrayList<>();
    private final Duration timeToLive;

    public RememberingHandler(Duration timeToLive) {
        this.timeToLive = timeToLive;
    }

    public int opened() {
        return opened.size();
    }

    public int closed() {
        return closed.size();
    }

    @Override
    public Notes openSession(InvocationRequest request) throws Exception {
        var notes = new Notes();
        opened.add(notes);
        return notes;
    }

    @Override
    public Duration sessionTimeToLive() {
        return timeToLive;
    }

    @Override
    public long sessionBytes(Notes notes) {
        return 1 + notes.lines.stream().mapToLong(String::length).sum();
    }

    /// In a session all lines so far are one record.
    @Override
    public List<String> inputFn(InvocationRequest request) throws IOException {
        var text = request.text();
        var session = request.session(Notes.class);
        if (session.isEmpty()) {
            return text.lines().toList();
        }
        var notes = session.get();
        if (notes.inside.incrementAndGet() != 1) {
            throw new IllegalStateException("found two requests in one session");
        }
        try {
            text.lines().forEach(notes.lines::add);
            return List.of(String.join(",", notes.lines));
        } finally {
            notes.inside.decrementAndGet();
        }
    }
}
