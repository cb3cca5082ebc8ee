package dev.berth.content;

import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.UnsupportedMediaTypeException;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;

/// Rows as LIBSVM and XGBoost write them, in requests alone: `label index:value index:value`. The
/// label may be left out and is not used. Indexes are those of the model's columns, from 0 on;
/// columns that are not there are missing values.
final class Libsvm extends ContentType implements ContentType.ToTensors, ContentType.OfLines {

    Libsvm() {
        super(List.of(MediaType.of("text", "libsvm"), MediaType.of("text", "x-libsvm")), List.of("libsvm"));
    }

    @Override
    public TensorRecords readTensors(InvocationRequest request, TensorInputs inputs) throws IOException {
        if (!inputs.table().isKnown()) {
            throw new UnsupportedMediaTypeException(
                    "Content-Type: found %s, expected another type: the model does not say how many columns it has"
                            .formatted(request.contentType().withoutParameters()));
        }
        var lines = JsonLines.read(request);
        int count = inputs.table().count();
        var places = CsvTensors.inOrder(count);
        return new TensorRecords(
                lines.size(),
                i -> {
                    var name = lines.get(i).name();
                    var cells = cells(lines.get(i).text(), count, name);
                    return new CsvTensors.Row(name, cells, inputs.table(), places).record(inputs);
                },
                Instances.Form.LIST);
    }

    private static String[] cells(String line, int count, String name) {
        var cells = new String[count];
        Arrays.fill(cells, "");
        // The last one has what is more than a label and the columns.
        var items = line.strip().split("\\s+", count + 2);
        for (int i = 0; i < items.length; i++) {
            int colon = items[i].indexOf(':');
            if (colon < 0 && i == 0) {
                continue;
            }
            int column = column(items[i], colon, count);
            if (column < 0 || !cells[column].isEmpty()) {
                throw new BadInputException(
                        "%s: found %s, expected index:value with each index from 0 to %d at most once"
                                .formatted(name, Excerpt.quoted(items[i]), count - 1));
            }
            cells[column] = items[i].substring(colon + 1);
        }
        return cells;
    }

    /// The index in front of a colon; -1: there is none that the model has, or no value.
    private static int column(String item, int colon, int count) {
        try {
            int column = Integer.parseInt(item, 0, Math.max(0, colon), 10);
            return column < count && colon < item.length() - 1 ? column : -1;
        } catch (NumberFormatException _) {
            return -1;
        }
    }
}
