package dev.berth.config;

import java.util.OptionalInt;

/// What clients of the Open Inference Protocol meet.
///
/// @param grpcPort 0 takes any free port; empty: no gRPC
public record ProtocolConfig(OptionalInt grpcPort, String modelName) {

    static ProtocolConfig read(Reading reading) {
        var config = new ProtocolConfig(
                Reading.number(reading.optional(
                        "--grpc-port",
                        Syntax.wholeNumber(0, 65535),
                        "not set",
                        "Port for gRPC of the Open Inference Protocol; 0 takes any free one, unset"
                                + " means no gRPC")),
                reading.fixed(
                        "--model-name",
                        Syntax.word("<name>", "a name"),
                        "model",
                        "The only model's name in /v2/models/{name} and in gRPC"));
        int port = HttpConfig.port(reading);
        if (port > 0 && config.grpcPort.equals(OptionalInt.of(port))) {
            reading.problem("grpc-port: found %d, which is the port of HTTP too; expected another".formatted(port));
        }
        return config;
    }
}
