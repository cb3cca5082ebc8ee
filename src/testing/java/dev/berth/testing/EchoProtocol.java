package dev.berth.testing;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.berth.hooks.InvocationResponse;
import dev.berth.hooks.MediaType;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import dev.berth.serving.Dialect;
import java.util.List;
import java.util.function.UnaryOperator;

/// The smallest protocol: `POST /echo/{name}` asks a model, and says whose answer it is.
public final class EchoProtocol implements Protocol {

    @Override
    public List<Route> routes() {
        return List.of(Route.post("/echo/{name}", parts -> {
            var invocations = parts.invocations();
            return ctx ->
                    invocations.ask(ctx, asked -> asked.answer(new Named(asked.model()), UnaryOperator.identity()));
        }));
    }

    private record Named(String model) implements Dialect {
        @Override
        public InvocationResponse response(InvocationResponse answer) {
            var text = "{\"%s\": \"%s\"}".formatted(model, new String(answer.body(), UTF_8));
            return InvocationResponse.of(text, MediaType.JSON);
        }
    }
}
