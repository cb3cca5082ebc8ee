package dev.berth.http.protocol;

import com.google.protobuf.CodedInputStream;
import com.google.protobuf.WireFormat;
import dev.berth.hooks.BadInputException;
import dev.berth.hooks.Signature;
import java.io.IOException;
import java.util.List;
import java.util.Optional;

/// The small messages of gRPC, each with its frame.
public final class GrpcMessages {

  private GrpcMessages() {}

  /// Which model is asked.
  ///
  /// @param version empty: any
  public record Asked(String model, String version) {}

  /// `ServerLiveResponse`, `ServerReadyResponse` and `ModelReadyResponse`.
  public static byte[] yesOrNo(boolean yes) {
    return GrpcFrame.of(message -> message.writeBool(1, yes)).body();
  }

  /// `ServerMetadataResponse`.
  public static byte[] server(String name, String version, List<String> extensions) {
    return GrpcFrame.of(
            message -> {
              message.writeString(1, name);
              message.writeString(2, version);
              for (var extension : extensions) {
                message.writeString(3, extension);
              }
            })
        .body();
  }

  /// `ModelMetadataResponse`.
  public static byte[] model(InferTarget target, Signature signature) {
    return GrpcFrame.of(
            message -> {
              message.writeString(1, target.model());
              message.writeString(2, target.version());
              message.writeString(3, ModelMetadata.PLATFORM);
              for (var input : signature.inputs()) {
                message.writeByteArray(4, column(input));
              }
              for (var output : signature.outputs()) {
                message.writeByteArray(5, column(output));
              }
            })
        .body();
  }

  private static byte[] column(Signature.Column column) {
    return Protobuf.bytes(
        tensor -> {
          tensor.writeString(1, column.name());
          tensor.writeString(2, Datatype.of(column.type()).name());
          Protobuf.writeShape(3, ModelMetadata.shape(column), tensor);
        });
  }

  /// Reads `ModelReadyRequest` or `ModelMetadataRequest`.
  ///
  /// @throws BadInputException when it is none
  public static Asked asked(byte[] body) {
    var message = GrpcFrame.message(body);
    return names(CodedInputStream.newInstance(message), true)
        .orElseThrow(() -> new BadInputException("message: not one that names a model"));
  }

  /// Reads the names in a `ModelInferRequest`, where they stand in front of everything else, as all
  /// of protobuf's libraries write them.
  ///
  /// @param body may end anywhere
  /// @param isWhole whether it is all that there is
  /// @return nothing where the names are not whole
  public static Optional<Asked> askedFirst(byte[] body, boolean isWhole) {
    return body.length < GrpcFrame.PREFIX
        ? Optional.empty()
        : names(
            CodedInputStream.newInstance(body, GrpcFrame.PREFIX, body.length - GrpcFrame.PREFIX),
            isWhole);
  }

  private static Optional<Asked> names(CodedInputStream in, boolean isWhole) {
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
