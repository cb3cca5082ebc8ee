package dev.berth.serving;

import dev.berth.batching.PartSink;
import dev.berth.memory.RequestMemory;
import dev.berth.serving.hooks.Deadline;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/// Keeps the parts of a request whose caller wants one body.
final class Parts<O> implements PartSink<O> {

    /// What a part takes, in bytes, beside what the hook made of it.
    private static final int PART = 256;

    private final List<List<O>> ofRecords;
    private final Deadline deadline;
    private final RequestMemory memory;

    /// @param memory used by nothing else while there are workers that call this
    Parts(int records, Deadline deadline, RequestMemory memory) {
        this.ofRecords = Stream.generate(() -> (List<O>) new ArrayList<O>())
                .limit(records)
                .toList();
        this.deadline = deadline;
        this.memory = memory;
    }

    /// Several workers may have records of one request.
    @Override
    public synchronized void take(int index, O part) {
        memory.addAtOnce(PART);
        ofRecords.get(index).add(part);
    }

    @Override
    public long deadlineNanos() {
        return deadline.nanos();
    }

    synchronized List<List<O>> ofRecords() {
        return ofRecords;
    }
}
