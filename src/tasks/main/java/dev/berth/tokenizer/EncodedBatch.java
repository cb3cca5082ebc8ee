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
        return tensor(
                row -> {
                    var ones = new long[row.size()];
                    Arrays.fill(ones, 1);
                    return ones;
                },
                0);
    }

    public Tensor typeIds() {
        return tensor(Encoding::typeIds, padding.typeId);
    }

    private Tensor tensor(Function<Encoding, long[]> part, long filling) {
        int length = rows.stream().mapToInt(Encoding::size).max().orElseThrow();
        var values = new long[rows.size() * length];
        Arrays.fill(values, filling);
        for (int i = 0; i < rows.size(); i++) {
            int size = rows.get(i).size();
            int from = i * length + (padding.side == Truncation.Side.LEFT ? length - size : 0);
            System.arraycopy(part.apply(rows.get(i)), 0, values, from, size);
        }
        return Tensor.of(values, rows.size(), length);
    }
}
