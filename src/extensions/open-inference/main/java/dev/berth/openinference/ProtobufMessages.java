package dev.berth.openinference;

import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.UnsafeByteOperations;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.InvocationRequest;
import dev.berth.hooks.InvocationResponse;
import dev.berth.http.NamedModels;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// `ModelInferRequest` and `ModelInferResponse`. Tensors in raw contents are parts of the body, and
/// not copied.
final class ProtobufMessages implements Messages {

    /// What Triton's streams say of the last answer to a request.
    private static final String FINAL = "triton_final_response";

    private final String model;
    private final boolean inStream;
    private String id = "";
    private boolean raw;

    /// @param inStream whether the answer is a `ModelStreamInferResponse`
    public ProtobufMessages(String model, boolean inStream) {
        this.model = model;
        this.inStream = inStream;
    }

    @Override
    public Request read(InvocationRequest asked) throws IOException {
        var body = UnsafeByteOperations.unsafeWrap(asked.bytes());
        try {
            MessageMemory.charge(body.newCodedInput(), Inference.ModelInferRequest.getDescriptor());
            var in = body.newCodedInput();
            in.enableAliasing(true);
            return read(Inference.ModelInferRequest.parseFrom(in));
        } catch (InvalidProtocolBufferException e) {
            throw new BadInputException("message: not a ModelInferRequest: " + e.getMessage(), e);
        }
    }

    private Request read(Inference.ModelInferRequest message) {
        id = message.getId();
        var wanted = new ArrayList<String>();
        for (var output : message.getOutputsList()) {
            InferParameters.known(
                    parameters(output.getParametersMap()),
                    InferParameters.OF_OUTPUTS,
                    "outputs[%d].parameters".formatted(wanted.size()));
            wanted.add(output.getName());
        }
        return new Request(inputs(message), parameters(message.getParametersMap()), wanted);
    }

    private List<InferTensor> inputs(Inference.ModelInferRequest message) {
        int raws = message.getRawInputContentsCount();
        raw = raws > 0;
        if (raw && raws != message.getInputsCount()) {
            throw new BadInputException("raw_input_contents: found %d, expected %d, one for each input"
                    .formatted(raws, message.getInputsCount()));
        }
        var tensors = new ArrayList<InferTensor>();
        for (var input : message.getInputsList()) {
            int i = tensors.size();
            var place = "inputs[%d]".formatted(i);
            if (raw && input.hasContents()) {
                throw new BadInputException(place + ".contents: found raw_input_contents too, expected one of them");
            }
            var header = InferHeader.of(
                    place,
                    input.getName(),
                    input.getDatatype(),
                    input.getShapeList().stream().mapToLong(Long::longValue).toArray(),
                    parameters(input.getParametersMap()));
            tensors.add(
                    raw
                            ? header.ofRaw(message.getRawInputContents(i))
                            : TypedContents.read(header, input.getContents()));
        }
        return tensors;
    }

    /// Each has one field, that of its type.
    private static Map<String, Object> parameters(Map<String, Inference.InferParameter> found) {
        var parameters = new LinkedHashMap<String, Object>();
        found.forEach(
                (name, parameter) -> parameter.getAllFields().values().forEach(value -> parameters.put(name, value)));
        return parameters;
    }

    /// Raw contents answer raw contents, and half floats, which have no typed ones.
    @Override
    public InvocationResponse write(List<InferTensor> outputs) {
        boolean asBytes = raw || outputs.stream().anyMatch(output -> output.datatype() == Datatype.FP16);
        var response = Inference.ModelInferResponse.newBuilder()
                .setModelName(model)
                .setModelVersion(NamedModels.VERSION)
                .setId(id);
        for (var output : outputs) {
            var tensor = response.addOutputsBuilder()
                    .setName(output.name())
                    .setDatatype(output.datatype().name())
                    .addAllShape(
                            Arrays.stream(output.shape()).asLongStream().boxed().toList());
            output.contentType().ifPresent(type -> putContentType(tensor, type));
            if (asBytes) {
                response.addRawOutputContents(UnsafeByteOperations.unsafeWrap(output.raw()));
            } else {
                tensor.setContents(TypedContents.of(output));
            }
        }
        if (inStream) {
            response.putParameters(
                    FINAL,
                    Inference.InferParameter.newBuilder().setBoolParam(true).build());
        }
        return InvocationResponse.of(
                Grpc.frame(
                        inStream
                                ? Inference.ModelStreamInferResponse.newBuilder()
                                        .setInferResponse(response)
                                        .build()
                                : response.build()),
                Grpc.TYPE);
    }

    private static void putContentType(Inference.ModelInferResponse.InferOutputTensor.Builder tensor, String type) {
        tensor.putParameters(
                InferParameters.CONTENT_TYPE,
                Inference.InferParameter.newBuilder().setStringParam(type).build());
    }
}
