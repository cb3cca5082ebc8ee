package dev.berth.tokenizer;

import dev.berth.hooks.Tensor;
import java.util.List;
import java.util.function.Function;

/// Rows of one length, for a forward: the shorter ones are padded.
///
/// @param rows at least one
public record EncodedBatch(List<Encoding> rows) {

    public EncodedBatch {
        rows = List.copyOf(rows);
    }

    /// An `int64` tensor of rows and their tokens, as all tensors here.
    public Tensor ids() {
        return tensor(Encoding::ids);
    }

    public Tensor attentionMask() {
        return tensor(Encoding::attentionMask);
    }

    public Tensor typeIds() {
        return tensor(Encoding::typeIds);
    }

    private Tensor tensor(Function<Encoding, long[]> part) {
        int length = rows.getFirst().size();
        var values = new long[rows.size() * length];
        for (int row = 0; row < rows.size(); row++) {
            System.arraycopy(part.apply(rows.get(row)), 0, values, row * length, length);
        }
        return Tensor.of(values, rows.size(), length);
    }
}
