import dev.berth.content.Json;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.StreamingHandler;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;

public final class Inference implements StreamingHandler<Integer, Integer, Integer, int[]> {
    @Override
    public Integer modelFn(ModelContext context) {
        return 1;
    }

    @Override
    public List<Integer> inputFn(InvocationRequest request) throws IOException {
        return List.of(Json.read(request).path("last").intValue());
    }

    @Override
    public int[] beginFn(Integer last, Integer first) {
        return new int[] {first, last};
    }

    @Override
    public void stepFn(List<PartStream<int[], Integer>> streams, Integer first) {
        for (var stream : streams) {
            int[] count = stream.state();
            if (count[0] > count[1]) {
                stream.end();
            } else {
                stream.emit(count[0]++);
            }
        }
    }

    @Override
    public byte[] partFn(Integer number, int record, InvocationRequest request) {
        return Json.write(Map.of("number", number)).getBytes(StandardCharsets.UTF_8);
    }

    @Override
    public Integer join(Integer last, List<Integer> numbers) {
        return numbers.size();
    }

    @Override
    public InvocationResponse outputFn(List<Integer> counts, InvocationRequest request) {
        return InvocationResponse.of(Json.write(Map.of("numbers", counts.getFirst())), MediaType.JSON);
    }
}
