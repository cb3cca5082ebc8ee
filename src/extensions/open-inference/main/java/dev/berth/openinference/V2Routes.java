package dev.berth.openinference;

import static dev.berth.http.Route.get;
import static dev.berth.http.Route.post;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.http.ErrorForm;
import dev.berth.http.Operation;
import dev.berth.http.Protocol;
import dev.berth.http.Route;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;

/// The Open Inference Protocol over HTTP.
public final class V2Routes implements Protocol {

    static final String ROOT = "/v2";
    static final String MODEL = ROOT + "/models/{name}";
    static final String VERSION = MODEL + "/versions/{version}";

    @Override
    public List<Route> routes() {
        return Stream.concat(
                        Stream.of(
                                get(
                                        ROOT,
                                        o -> o.protocol(
                                                "What this server is and speaks",
                                                "{name: '', version: '', extensions: ['']}"),
                                        parts -> new OpenInference(parts)::server),
                                get(
                                                ROOT + "/health/live",
                                                o -> o.protocol("Whether the server is up", "{live: true}"),
                                                parts -> new OpenInference(parts)::live)
                                        .forHealth(),
                                get(
                                                ROOT + "/health/ready",
                                                o -> o.protocol("Whether the server can answer", "{ready: true}")
                                                        .fails(ErrorType.NOT_READY),
                                                parts -> new OpenInference(parts)::ready)
                                        .forHealth()),
                        Stream.of(MODEL, VERSION).flatMap(V2Routes::ofModel))
                .toList();
    }

    private static Stream<Route> ofModel(String path) {
        return Stream.of(
                get(path, V2Routes::signature, parts -> new OpenInference(parts)::describe),
                get(
                        path + "/ready",
                        o -> o.protocol("Whether a model can answer", "{name: '', ready: true}")
                                .fails(ErrorType.NOT_READY),
                        parts -> new OpenInference(parts)::modelReady),
                post(path + "/infer", V2Routes::infer, parts -> new OpenInference(parts)::infer));
    }

    @Override
    public Optional<ErrorForm> errors(String path, ServerConfig config) {
        return path.equals(ROOT) || path.startsWith(ROOT + "/") ? Optional.of(ErrorForm.TEXT) : Optional.empty();
    }

    private static Operation signature(Operation operation) {
        return operation
                .protocol(
                        "The inputs and outputs of a model",
                        "{name: '', versions: [''], platform: '', inputs: [%1$s], outputs: [%1$s]}"
                                .formatted("{name: '', datatype: '', shape: [1]}"))
                .fails(ErrorType.NOT_READY);
    }

    private static Operation infer(Operation operation) {
        return operation
                .protocol(
                        "Ask a model with tensors", "{model_name: '', outputs: [{name: '', shape: [1], datatype: ''}]}")
                .says(
                        "Binary data may stand behind the JSON, where Inference-Header-Content-Length says how long that is.")
                .takes("{inputs: [{name: '', shape: [1], datatype: '', data: []}]}")
                .failsAsking();
    }
}
