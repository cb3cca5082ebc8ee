package dev.berth.openinference;

import com.fasterxml.jackson.databind.JsonNode;
import com.google.protobuf.CodedInputStream;
import com.google.protobuf.InvalidProtocolBufferException;
import com.google.protobuf.WireFormat;
import dev.berth.error.ErrorType;
import java.io.IOException;
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

    /// How the message of a call is read.
    interface Reading {
        Asked of(byte[] message) throws InvalidProtocolBufferException;

        /// @throws dev.berth.error.ServingException `BAD_INPUT` where it is another message
        default Asked from(byte[] message) {
            try {
                return of(message);
            } catch (InvalidProtocolBufferException e) {
                throw ErrorType.BAD_INPUT.because("message: not one that names a model", e);
            }
        }
    }

    /// Of the empty message.
    static final Reading NOTHING = _ -> new Asked("", "");

    /// Of `ModelReadyRequest`, and of those for metadata, configuration and statistics, which are alike.
    static final Reading MODEL = message -> {
        var asked = Inference.ModelReadyRequest.parseFrom(message);
        return new Asked(asked.getName(), asked.getVersion());
    };

    static final Reading INDEX = message -> {
        var asked = Inference.RepositoryIndexRequest.parseFrom(message);
        return new Asked("", "", asked.getReady(), Set.of());
    };

    /// Of `RepositoryModelLoadRequest`, and of that to unload, which is alike.
    static final Reading LOADED = message -> {
        var asked = Inference.RepositoryModelLoadRequest.parseFrom(message);
        return new Asked(
                asked.getModelName(), "", false, asked.getParametersMap().keySet());
    };

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
