package dev.berth.batching;

import dev.berth.memory.RequestMemory;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// Keeps what is predicted for a request whose answer is whole, in the order of its pieces.
public final class Parts<O> implements PartSink<O> {

    /// What a part takes, in bytes, beside what the hook made of it. The first one of a piece is
    /// counted with the piece.
    private static final int PART = 256;

    private final List<List<O>> ofPieces;
    private final long deadlineNanos;
    private final RequestMemory memory;

    /// @param memory used by nothing else while there are workers that call this
    public Parts(int pieces, long deadlineNanos, RequestMemory memory) {
        this.ofPieces = Stream.generate(() -> (List<O>) new ArrayList<O>(1))
                .limit(pieces)
                .toList();
        this.deadlineNanos = deadlineNanos;
        this.memory = memory;
    }

    /// Several workers may have pieces of one request.
    @Override
    public synchronized void take(int index, O part) {
        var before = ofPieces.get(index);
        if (!before.isEmpty()) {
            memory.addAtOnce(PART);
        }
        before.add(part);
    }

    @Override
    public long deadlineNanos() {
        return deadlineNanos;
    }

    public synchronized List<List<O>> ofPieces() {
        return ofPieces;
    }
}
