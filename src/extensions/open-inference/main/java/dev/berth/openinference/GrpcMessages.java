package dev.berth.openinference;

import com.google.protobuf.Descriptors.EnumValueDescriptor;
import com.google.protobuf.Descriptors.FieldDescriptor;
import com.google.protobuf.Message;
import dev.berth.hooks.Signature;
import dev.berth.http.NamedModels;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/// The small messages of gRPC.
final class GrpcMessages {

    static final String PLATFORM = "berth";

    private GrpcMessages() {}

    /// `ServerLiveResponse`, and `ServerReadyResponse` and `ModelReadyResponse`, which are alike.
    static Message yesOrNo(boolean yes) {
        return Inference.ServerLiveResponse.newBuilder().setLive(yes).build();
    }

    /// What clients are told about a model. Shapes begin with -1: as many records as the client likes.
    static Inference.ModelMetadataResponse model(String model, Signature signature) {
        return Inference.ModelMetadataResponse.newBuilder()
                .setName(model)
                .addVersions(NamedModels.VERSION)
                .setPlatform(PLATFORM)
                .addAllInputs(columns(signature.inputs()))
                .addAllOutputs(columns(signature.outputs()))
                .build();
    }

    private static List<Inference.ModelMetadataResponse.TensorMetadata> columns(List<Signature.Column> columns) {
        return columns.stream()
                .map(column -> Inference.ModelMetadataResponse.TensorMetadata.newBuilder()
                        .setName(column.name())
                        .setDatatype(Datatype.of(column.type()).name())
                        .addShape(-1)
                        .addAllShape(dims(column))
                        .build())
                .toList();
    }

    /// Triton's configuration, of which the dimensions are without the records. A request may have
    /// any number of those.
    static Message config(String model, Signature signature) {
        var config = Inference.ModelConfig.newBuilder()
                .setName(model)
                .setPlatform(PLATFORM)
                .setBackend(PLATFORM)
                .setMaxBatchSize(Integer.MAX_VALUE)
                .setDynamicBatching(Inference.ModelDynamicBatching.getDefaultInstance());
        for (var column : signature.inputs()) {
            config.addInputBuilder()
                    .setName(column.name())
                    .setDataType(type(column))
                    .addAllDims(dims(column));
        }
        for (var column : signature.outputs()) {
            config.addOutputBuilder()
                    .setName(column.name())
                    .setDataType(type(column))
                    .addAllDims(dims(column));
        }
        return Inference.ModelConfigResponse.newBuilder().setConfig(config).build();
    }

    private static List<Long> dims(Signature.Column column) {
        return column.shape().stream().map(Integer::longValue).toList();
    }

    private static Inference.DataType type(Signature.Column column) {
        var type = Datatype.of(column.type());
        return Inference.DataType.valueOf("TYPE_" + (type == Datatype.BYTES ? "STRING" : type.name()));
    }

    /// A message by the names of its fields, with those that have no value.
    static Map<String, Object> json(Message message) {
        var fields = new LinkedHashMap<String, Object>();
        for (var field : message.getDescriptorForType().getFields()) {
            if (field.isRepeated()) {
                var values = (List<?>) message.getField(field);
                fields.put(
                        field.getName(),
                        values.stream().map(GrpcMessages::plain).toList());
            } else if (field.getJavaType() != FieldDescriptor.JavaType.MESSAGE || message.hasField(field)) {
                fields.put(field.getName(), plain(message.getField(field)));
            }
        }
        return fields;
    }

    private static Object plain(Object value) {
        return switch (value) {
            case Message message -> json(message);
            case EnumValueDescriptor constant -> constant.getName();
            default -> value;
        };
    }
}
