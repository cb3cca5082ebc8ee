package dev.berth.handler.tensor;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Tensor;
import java.util.AbstractList;
import java.util.List;

/// The record that all rows of a request are: for each input of the model what it gets.
final class WholeRequest extends AbstractList<Tensor> {

    private final List<Tensor> tensors;

    WholeRequest(List<Tensor> tensors) {
        this.tensors = tensors;
    }

    /// @throws BadInputException when the rows have different shapes
    static WholeRequest of(List<List<Tensor>> rows) {
        var first = rows.getFirst().toString();
        for (int i = 1; i < rows.size(); i++) {
            if (!rows.get(i).toString().equals(first)) {
                throw new BadInputException(
                        "row %d of %d: found %s, expected %s as in the first row: the model takes all rows of a request in one forward"
                                .formatted(i + 1, rows.size(), rows.get(i), first));
            }
        }
        return new WholeRequest(RowAxes.columns(rows));
    }

    @Override
    public Tensor get(int index) {
        return tensors.get(index);
    }

    @Override
    public int size() {
        return tensors.size();
    }
}
