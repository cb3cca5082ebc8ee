package dev.berth.json;

import dev.berth.memory.HeapSize;
import dev.berth.memory.RequestMemory;
import java.io.Writer;
import java.util.ArrayList;
import java.util.List;

/// A text that is written piece by piece. Each piece is counted for the request that the thread
/// works for before it is kept. So an answer for which there is no memory is refused, whatever hook
/// writes it, and the process goes on.
final class CountedText extends Writer {

    private final List<String> pieces = new ArrayList<>();

    /// @throws dev.berth.error.ServingException when there is no room for it
    @Override
    public void write(char[] characters, int from, int count) {
        RequestMemory.charge(HeapSize.CHARACTER * count);
        pieces.add(new String(characters, from, count));
    }

    @Override
    public void flush() {}

    @Override
    public void close() {}

    @Override
    public String toString() {
        return pieces.size() == 1 ? pieces.getFirst() : String.join("", pieces);
    }
}
