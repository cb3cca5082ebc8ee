package dev.berth.openinference;

import java.util.List;
import java.util.Map;

/// What a client asks a model.
///
/// @param parameters plain Java by name
/// @param wanted the names of the outputs that are asked for; empty: all
record InferRequest(List<InferTensor> inputs, Map<String, Object> parameters, List<String> wanted) {

    InferRequest {
        inputs = List.copyOf(inputs);
        parameters = Map.copyOf(parameters);
        wanted = List.copyOf(wanted);
    }
}
