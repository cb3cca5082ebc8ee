package dev.berth.tokenizer;

import dev.berth.hooks.Tensor;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/// Rows for a forward: the shorter ones are padded to the longest.
///
/// @param rows at least one
/// @param padding of the shorter ones
public record EncodedBatch(List<Encoding> rows, Padding padding) {

    /// What stands in a row that is too short.
    ///
    /// @param side where it stands
    public record Padding(long id, long typeId, Truncation.Side side) {}

    public EncodedBatch {
        rows = List.copyOf(rows);
    }

    /// An `int64` tensor of rows and their tokens, as all tensors here.
    public Tensor ids() {
        return tensor(Encoding::ids, padding.id);
    }

    /// 1, or 0 for padding.
    public Tensor attentionMask() {
        return tensor(row -> ones(row.size()), 0);
    }

    /// The mask of a row.
    public static long[] ones(int tokens) {
        var ones = new long[tokens];
        Arrays.fill(ones, 1);
        return ones;
    }

    public Tensor typeIds() {
        return tensor(Encoding::typeIds, padding.typeId);
    }

    private Tensor tensor(Function<Encoding, long[]> part, long filling) {
        int length = rows.stream().mapToInt(Encoding::size).max().orElseThrow();
        return padded(rows.stream().map(part).toList(), rows.size(), length, filling, padding.side);
    }

    /// An `int64` tensor `[count, length]` of rows, filled up to that.
    public static Tensor padded(List<long[]> rows, int count, int length, long filling, Truncation.Side side) {
        var values = new long[Math.multiplyExact(count, length)];
        Arrays.fill(values, filling);
        for (int i = 0; i < rows.size(); i++) {
            var row = rows.get(i);
            int from = i * length + (side == Truncation.Side.LEFT ? length - row.length : 0);
            System.arraycopy(row, 0, values, from, row.length);
        }
        return Tensor.of(values, count, length);
    }
}
