package dev.berth.openinference;

import java.util.List;
import java.util.Map;
import java.util.Optional;

/// What a client asks a model.
///
/// @param id empty: the answer has none
/// @param parameters plain Java by name
/// @param wanted the outputs that are asked for; empty: all
/// @param binary whether an output that does not say otherwise is to come as bytes
record InferRequest(
        Optional<String> id,
        List<InferTensor> inputs,
        Map<String, Object> parameters,
        List<Wanted> wanted,
        boolean binary) {

    /// @param binary empty: as the request says
    record Wanted(String name, Optional<Boolean> binary) {}

    InferRequest {
        inputs = List.copyOf(inputs);
        parameters = Map.copyOf(parameters);
        wanted = List.copyOf(wanted);
    }
}
