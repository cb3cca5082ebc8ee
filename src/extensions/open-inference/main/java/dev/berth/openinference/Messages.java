package dev.berth.openinference;

import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import java.io.IOException;
import java.util.List;

/// How a request and its answer are written: as JSON, or as protobuf. Made for one request.
interface Messages {

    /// @throws dev.berth.hooks.BadInputException naming what is wrong
    InferRequest read(InvocationRequest asked) throws IOException;

    /// Called after [#read].
    InvocationResponse write(InferRequest asked, List<InferTensor> outputs);
}
