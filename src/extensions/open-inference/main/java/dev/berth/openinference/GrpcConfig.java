package dev.berth.openinference;

import dev.berth.config.ExtensionSettings;
import dev.berth.config.HttpConfig;
import dev.berth.config.Reading;
import dev.berth.config.Syntax;
import java.util.OptionalInt;

/// Where gRPC listens.
///
/// @param port 0 takes any free port; empty: no gRPC
record GrpcConfig(OptionalInt port) {

    /// Reads it.
    public static final class Settings implements ExtensionSettings {
        @Override
        public Record read(Reading reading) {
            var port = Reading.number(reading.optional("--grpc-port", Syntax.wholeNumber(0, 65535)));
            int http = HttpConfig.port(reading);
            if (http > 0 && port.equals(OptionalInt.of(http))) {
                reading.problem("grpc-port: found %d, which is the port of HTTP too; expected another".formatted(http));
            }
            return new GrpcConfig(port);
        }
    }
}
