package dev.berth.openinference;

import dev.berth.hooks.Signature;
import dev.berth.http.NamedModels;
import java.util.List;
import java.util.stream.IntStream;

/// What clients are told about a model: the answer of `GET /v2/models/{name}` has these fields.
public record ModelMetadata(
        String name, List<String> versions, String platform, List<Column> inputs, List<Column> outputs) {

    /// @param shape begins with -1: as many records as the client likes
    record Column(String name, Datatype datatype, int[] shape) {}

    public static ModelMetadata of(String model, Signature signature) {
        return new ModelMetadata(
                model,
                List.of(NamedModels.VERSION),
                "berth",
                columns(signature.inputs()),
                columns(signature.outputs()));
    }

    private static List<Column> columns(List<Signature.Column> columns) {
        return columns.stream()
                .map(column -> new Column(
                        column.name(),
                        Datatype.of(column.type()),
                        IntStream.concat(
                                        IntStream.of(-1),
                                        column.shape().stream().mapToInt(Integer::intValue))
                                .toArray()))
                .toList();
    }
}
