import dev.berth.content.Fields;
import dev.berth.content.Json;
import dev.berth.content.JsonTensors;
import dev.berth.engine.Graph;
import dev.berth.handler.task.ScoreFunction;
import dev.berth.hooks.ElementType;
import dev.berth.hooks.InferenceHandler;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.Tensor;
import java.io.IOException;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.stream.IntStream;

/// A forest in ONNX and a network in TorchScript vote on each row.
public final class Inference implements InferenceHandler<Inference.Models, Tensor, double[]> {

    private static final int COLUMNS = 4;

    record Models(Graph forest, Graph network) implements AutoCloseable {
        @Override
        public void close() {
            forest.close();
            network.close();
        }
    }

    @Override
    public Models modelFn(ModelContext context) {
        var directory = context.modelDirectory();
        return new Models(
                Graph.load(directory.resolve("forest.onnx"), context.accelerator()),
                Graph.load(directory.resolve("network.pt"), context.accelerator()));
    }

    @Override
    public List<MediaType> requestTypes() {
        return List.of(MediaType.JSON);
    }

    @Override
    public List<Tensor> inputFn(InvocationRequest request) throws IOException {
        var fields = Fields.of(Json.read(request), "body", List.of("rows"));
        var rows = JsonTensors.read(fields.json("rows"), ElementType.FLOAT32, "rows");
        if (rows.rank() != 2 || rows.shape()[1] != COLUMNS) {
            throw fields.bad("rows", "rows of %d numbers".formatted(COLUMNS));
        }
        return rows.unstack();
    }

    @Override
    public List<double[]> predictFn(List<Tensor> records, Models models) {
        var rows = List.of(Tensor.stack(records));
        int place = models.forest.outputNames().indexOf("probabilities");
        var forest = models.forest.forward(rows).get(place).unstack();
        var network = models.network.forward(rows).getFirst().unstack();
        return IntStream.range(0, records.size())
                .mapToObj(i -> mean(forest.get(i), network.get(i)))
                .toList();
    }

    private static double[] mean(Tensor forest, Tensor network) {
        var votes = forest.doubles();
        var others = ScoreFunction.SOFTMAX.of(network.floats());
        return IntStream.range(0, votes.length)
                .mapToDouble(i -> 0.4 * votes[i] + 0.6f * others[i])
                .toArray();
    }

    @Override
    public InvocationResponse outputFn(List<double[]> means, InvocationRequest request) {
        var answer = new LinkedHashMap<String, Object>();
        answer.put("classes", means.stream().map(Inference::likeliest).toList());
        answer.put("probabilities", means);
        return InvocationResponse.of(Json.write(answer), request.accept());
    }

    private static int likeliest(double[] mean) {
        return IntStream.range(0, mean.length).reduce(0, (a, b) -> mean[b] > mean[a] ? b : a);
    }
}
