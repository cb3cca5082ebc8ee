package dev.berth.openinference;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.Message;
import com.google.protobuf.MessageLite;
import com.google.protobuf.WireFormat;
import dev.berth.hooks.BadInputException;
import dev.berth.openinference.Inference.DataType;
import dev.berth.openinference.Inference.ModelConfig;
import dev.berth.openinference.Inference.ModelConfigResponse;
import dev.berth.openinference.Inference.ModelDynamicBatching;
import dev.berth.openinference.Inference.ModelMetadataResponse;
import dev.berth.openinference.Inference.ModelMetadataResponse.TensorMetadata;
import dev.berth.openinference.Inference.ModelReadyRequest;
import dev.berth.openinference.Inference.ModelStreamInferResponse;
import dev.berth.openinference.Inference.ServerLiveResponse;
import dev.berth.openinference.Inference.ServerMetadataResponse;
import java.io.IOException;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;

/// The small messages of gRPC.
public final class GrpcMessages {

    private GrpcMessages() {}

    /// Which model is asked.
    ///
    /// @param version empty: any
    public record Asked(String model, String version) {}

    /// `ServerLiveResponse`, and `ServerReadyResponse` and `ModelReadyResponse`, which are alike.
    public static MessageLite yesOrNo(boolean yes) {
        return ServerLiveResponse.newBuilder().setLive(yes).build();
    }

    public static MessageLite server(String name, String version, List<String> extensions) {
        return ServerMetadataResponse.newBuilder()
                .setName(name)
                .setVersion(version)
                .addAllExtensions(extensions)
                .build();
    }

    public static Message model(ModelMetadata model) {
        return ModelMetadataResponse.newBuilder()
                .setName(model.name())
                .addAllVersions(model.versions())
                .setPlatform(model.platform())
                .addAllInputs(columns(model.inputs()))
                .addAllOutputs(columns(model.outputs()))
                .build();
    }

    /// Triton's configuration, of which the dimensions are without the records. A request may have
    /// any number of those.
    public static Message config(ModelMetadata model) {
        var config = ModelConfig.newBuilder()
                .setName(model.name())
                .setPlatform(model.platform())
                .setBackend(model.platform())
                .setMaxBatchSize(Integer.MAX_VALUE)
                .setDynamicBatching(ModelDynamicBatching.getDefaultInstance());
        for (var column : model.inputs()) {
            config.addInputBuilder()
                    .setName(column.name())
                    .setDataType(type(column))
                    .addAllDims(dims(column));
        }
        for (var column : model.outputs()) {
            config.addOutputBuilder()
                    .setName(column.name())
                    .setDataType(type(column))
                    .addAllDims(dims(column));
        }
        return ModelConfigResponse.newBuilder().setConfig(config).build();
    }

    private static DataType type(ModelMetadata.Column column) {
        var type = column.datatype();
        return DataType.valueOf("TYPE_" + (type == Datatype.BYTES ? "STRING" : type.name()));
    }

    private static List<Long> dims(ModelMetadata.Column column) {
        return Arrays.stream(column.shape()).skip(1).asLongStream().boxed().toList();
    }

    /// What a stream says of a request that has failed. The next one may succeed.
    public static MessageLite failed(String why) {
        return ModelStreamInferResponse.newBuilder().setErrorMessage(why).build();
    }

    private static List<TensorMetadata> columns(List<ModelMetadata.Column> columns) {
        return columns.stream()
                .map(column -> TensorMetadata.newBuilder()
                        .setName(column.name())
                        .setDatatype(column.datatype().name())
                        .addAllShape(Arrays.stream(column.shape())
                                .asLongStream()
                                .boxed()
                                .toList())
                        .build())
                .toList();
    }

    /// Reads `ModelReadyRequest` or `ModelMetadataRequest`, which are alike.
    ///
    /// @throws BadInputException when it is none
    public static Asked asked(byte[] body) {
        try {
            var message = ModelReadyRequest.parseFrom(body);
            return new Asked(message.getName(), message.getVersion());
        } catch (InvalidProtocolBufferException e) {
            throw new BadInputException("message: not one that names a model", e);
        }
    }

    /// Reads the names in a `ModelInferRequest`, where they stand in front of everything else, as all
    /// of protobuf's libraries write them.
    ///
    /// @param body may end anywhere
    /// @param isWhole whether it is all that there is
    /// @return nothing where the names are not whole
    public static Optional<Asked> askedFirst(byte[] body, boolean isWhole) {
        var in = CodedInputStream.newInstance(body);
        var model = "";
        var version = "";
        try {
            for (int tag = in.readTag(); tag != 0; tag = in.readTag()) {
                switch (WireFormat.getTagFieldNumber(tag)) {
                    case 1 -> model = in.readStringRequireUtf8();
                    case 2 -> version = in.readStringRequireUtf8();
                    default -> {
                        return Optional.of(new Asked(model, version));
                    }
                }
            }
            return isWhole ? Optional.of(new Asked(model, version)) : Optional.empty();
        } catch (IOException _) {
            return Optional.empty();
        }
    }
}
