package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import dev.berth.error.ErrorType;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;

/// Which model is asked, and what a query says besides.
///
/// @param model empty: all, or the only one
/// @param version empty: any
/// @param readyOnly whether models that are not ready are left out
/// @param parameters their names
record Asked(String model, String version, boolean readyOnly, Set<String> parameters) {

    Asked(String model, String version) {
        this(model, version, false, Set.of());
    }

    /// @param type of a message that names a model, or none: `name` or `model_name`
    /// @throws dev.berth.error.ServingException `BAD_INPUT` where it is another message
    static Asked of(Descriptor type, byte[] message) {
        try {
            var fields = GrpcMessages.json(DynamicMessage.parseFrom(type, message));
            var parameters = (List<?>) fields.getOrDefault("parameters", List.of());
            return new Asked(
                    (String) fields.getOrDefault("name", fields.getOrDefault("model_name", "")),
                    (String) fields.getOrDefault("version", ""),
                    (Boolean) fields.getOrDefault("ready", false),
                    parameters.stream()
                            .map(parameter -> (String) ((Map<?, ?>) parameter).get("key"))
                            .collect(Collectors.toUnmodifiableSet()));
        } catch (InvalidProtocolBufferException e) {
            throw ErrorType.BAD_INPUT.because("message: not one that names a model", e);
        }
    }

    /// @param path the parameters of the path
    static Asked of(Map<String, String> path, JsonNode body) {
        return new Asked(
                path.getOrDefault("name", ""),
                path.getOrDefault("version", ""),
                body.path("ready").asBoolean(),
                body.path("parameters")
                        .propertyStream()
                        .map(Map.Entry::getKey)
                        .collect(Collectors.toUnmodifiableSet()));
    }

    /// Reads the names in a `ModelInferRequest`, where they stand in front of everything else, as all
    /// of protobuf's libraries write them.
    ///
    /// @param body may end anywhere
    /// @param isWhole whether it is all that there is
    /// @return nothing where the names are not whole
    static Optional<Asked> first(byte[] body, boolean isWhole) {
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
