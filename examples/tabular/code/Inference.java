import dev.berth.content.Json;
import dev.berth.handler.tensor.TensorHandler;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/// Says what flats may cost: a table in Parquet or Arrow in, prices as JSON or Arrow out.
///
/// `TensorHandler` loads `model.pt`, which takes rows of two numbers, batches and predicts.
public final class Inference extends TensorHandler {

    static final MediaType PARQUET = MediaType.of("application", "x-parquet");
    static final MediaType ARROW = MediaType.of("application", "vnd.apache.arrow.stream");

    /// The columns that the model takes, in its order.
    private static final List<String> COLUMNS = List.of("squareMetres", "rooms");

    /// Of one request. A small file can hold very many equal ones.
    private static final int MOST_ROWS = 100_000;

    private final ParquetTable parquet = new ParquetTable(COLUMNS, MOST_ROWS);
    private final ArrowTable arrow = new ArrowTable(COLUMNS, MOST_ROWS);

    public Inference(Path modelDirectory) {
        super(modelDirectory);
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(PARQUET, ARROW);
    }

    @Override
    public List<MediaType> responseTypes() {
        return List.of(MediaType.JSON, ARROW);
    }

    @Override
    public List<List<Tensor>> inputFn(InvocationRequest request) throws IOException {
        var rows =
                request.contentType().sameTypeAs(PARQUET) ? parquet.rows(request.bytes()) : arrow.rows(request.bytes());
        var records = new ArrayList<List<Tensor>>();
        for (float[] row : rows) {
            records.add(List.of(Tensor.of(row, COLUMNS.size())));
        }
        return records;
    }

    @Override
    public InvocationResponse outputFn(List<List<Tensor>> predictions, InvocationRequest request) throws IOException {
        float[] prices = new float[predictions.size()];
        for (int row = 0; row < prices.length; row++) {
            prices[row] = predictions.get(row).getFirst().floats()[0];
        }
        return request.accept().sameTypeAs(ARROW)
                ? InvocationResponse.of(arrow.write("price", prices), ARROW)
                : InvocationResponse.of(Json.write(Map.of("prices", prices)), MediaType.JSON);
    }

    @Override
    public void close() {
        parquet.close();
        super.close();
    }

    /// What both formats say of a cell that the model can't take.
    static float number(String column, int row, Object value) {
        if (!(value instanceof Number number)) {
            throw new BadInputException("%s: found %s in row %d, expected a number"
                    .formatted(
                            column, value == null ? "nothing" : value.getClass().getSimpleName(), row));
        }
        return number.floatValue();
    }

    static BadInputException tooManyRows(long rows, int most) {
        return new BadInputException("body: found %d rows, expected at most %d".formatted(rows, most));
    }
}
