package dev.berth.openinference;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import java.io.IOException;
import java.util.List;
import java.util.Map;

/// How a request and its answer are written: as JSON, or as protobuf. Made for one request.
interface Messages {

    /// What a client asks a model.
    ///
    /// @param parameters plain Java by name
    /// @param wanted the names of the outputs that are asked for; empty: all
    record Request(List<InferTensor> inputs, Map<String, Object> parameters, List<String> wanted) {

        public Request {
            inputs = List.copyOf(inputs);
            parameters = Map.copyOf(parameters);
            wanted = List.copyOf(wanted);
        }
    }

    /// @throws dev.berth.hooks.BadInputException naming what is wrong
    Request read(InvocationRequest asked) throws IOException;

    /// Called after [#read].
    InvocationResponse write(List<InferTensor> outputs);
}
