package dev.berth.config;

import java.util.Objects;
import java.util.OptionalInt;

/// What clients of the Open Inference Protocol meet.
///
/// @param grpcPort 0 takes any free port; empty: no gRPC
/// @param modelName the only model's name
public record ProtocolConfig(OptionalInt grpcPort, String modelName) {

  public ProtocolConfig {
    grpcPort.ifPresent(port -> Require.between("grpcPort", port, 0, 65535));
    Objects.requireNonNull(modelName, "modelName");
  }
}
