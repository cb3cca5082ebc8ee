import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.hooks.ModelContext;
import dev.berth.hooks.PartStream;
import dev.berth.hooks.StreamingHandler;
import java.io.IOException;
import java.time.Duration;
import java.util.List;

/// Hooks that do nothing but stream: `tools/bench/streams` measures what the server adds to them.
/// The body `100` asks for 100 parts, and `pause 20` for two, with 20 s between them.
public final class Inference implements StreamingHandler<Void, Inference.Order, String, Inference.Order> {

    static final class Order {
        private int left;
        private final Duration pause;

        private Order(int left, Duration pause) {
            this.left = left;
            this.pause = pause;
        }
    }

    @Override
    public Void modelFn(ModelContext context) {
        return null;
    }

    @Override
    public List<Order> inputFn(InvocationRequest request) throws IOException {
        var body = request.text().strip();
        try {
            return List.of(
                    body.startsWith("pause ")
                            ? new Order(2, Duration.ofSeconds(Integer.parseInt(body.substring("pause ".length()))))
                            : new Order(Integer.parseInt(body), Duration.ZERO));
        } catch (NumberFormatException e) {
            throw new BadInputException("body: found %s, expected a number or pause and a number".formatted(body), e);
        }
    }

    @Override
    public Order beginFn(Order order, Void model) {
        return order;
    }

    @Override
    public void stepFn(List<PartStream<Order, String>> streams, Void model) {
        for (var stream : streams) {
            stream.emit("part");
            if (--stream.state().left == 0) {
                stream.end();
            } else if (!stream.state().pause.isZero()) {
                stream.pause(stream.state().pause);
            }
        }
    }

    @Override
    public byte[] partFn(String part, int record, InvocationRequest request) {
        return new byte[] {'"', 'p', 'a', 'r', 't', '"'};
    }

    @Override
    public String join(Order order, List<String> parts) {
        return String.join(" ", parts);
    }

    @Override
    public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
        return InvocationResponse.of(String.join("\n", predictions), MediaType.TEXT);
    }
}
