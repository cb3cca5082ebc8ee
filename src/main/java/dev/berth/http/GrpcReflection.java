package dev.berth.http;

import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.ServiceDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.berth.error.ErrorType;
import dev.berth.http.ReflectionProtocol.ErrorResponse;
import dev.berth.http.ReflectionProtocol.ExtensionNumberResponse;
import dev.berth.http.ReflectionProtocol.FileDescriptorResponse;
import dev.berth.http.ReflectionProtocol.ListServiceResponse;
import dev.berth.http.ReflectionProtocol.ServerReflectionRequest;
import dev.berth.http.ReflectionProtocol.ServerReflectionResponse;
import dev.berth.http.ReflectionProtocol.ServiceResponse;
import dev.berth.http.openinference.GrpcFrame;
import dev.berth.http.openinference.Inference;
import io.javalin.http.Context;
import java.util.List;
import java.util.Optional;

/// `grpc.reflection.v1.ServerReflection`, by which clients without the `.proto` files, such as
/// grpcurl, learn what there is. Runs on the request's virtual thread.
///
/// @param invocations reads the requests
record GrpcReflection(Invocations invocations) {

  /// Their messages are the same.
  static final List<String> PATHS =
      List.of(
          "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo",
          "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo");

  /// None of them imports another.
  private static final List<FileDescriptor> FILES =
      List.of(
          Inference.getDescriptor(),
          HealthProtocol.getDescriptor(),
          ReflectionProtocol.getDescriptor());

  /// gRPC's code.
  private static final int NOT_FOUND = 5;

  void answerAll(Context ctx) throws Exception {
    Grpc.require(ctx);
    Grpc.begin(ctx);
    invocations.takeEach(
        ctx,
        Grpc.timeout(ctx),
        (body, _) -> {
          body.decode(in -> new GrpcMessage(in, Grpc.coding(ctx), false, body.memory()));
          Grpc.send(ctx, GrpcFrame.of(answer(request(body.readAllBytes()))));
        });
  }

  private static ServerReflectionRequest request(byte[] message) {
    try {
      return ServerReflectionRequest.parseFrom(message);
    } catch (InvalidProtocolBufferException e) {
      throw ErrorType.BAD_INPUT.because("message: not a ServerReflectionRequest", e);
    }
  }

  private static ServerReflectionResponse answer(ServerReflectionRequest asked) {
    var answer =
        ServerReflectionResponse.newBuilder().setValidHost(asked.getHost()).setOriginalRequest(asked);
    return switch (asked.getMessageRequestCase()) {
      case LIST_SERVICES -> answer.setListServicesResponse(services()).build();
      case FILE_BY_FILENAME ->
          file(
              answer,
              asked.getFileByFilename(),
              FILES.stream()
                  .filter(file -> file.getName().equals(asked.getFileByFilename()))
                  .findFirst());
      case FILE_CONTAINING_SYMBOL ->
          file(answer, asked.getFileContainingSymbol(), defining(asked.getFileContainingSymbol()));
      case FILE_CONTAINING_EXTENSION ->
          file(
              answer, asked.getFileContainingExtension().getContainingType(), Optional.empty());
      case ALL_EXTENSION_NUMBERS_OF_TYPE -> {
        var type = asked.getAllExtensionNumbersOfType();
        yield defining(type).isEmpty()
            ? missing(answer, type)
            : answer
                .setAllExtensionNumbersResponse(
                    ExtensionNumberResponse.newBuilder().setBaseTypeName(type))
                .build();
      }
      case MESSAGEREQUEST_NOT_SET ->
          throw ErrorType.BAD_INPUT.because("message_request: found none, expected one");
    };
  }

  private static ListServiceResponse services() {
    var services = ListServiceResponse.newBuilder();
    FILES.stream()
        .flatMap(file -> file.getServices().stream())
        .map(ServiceDescriptor::getFullName)
        .forEach(name -> services.addService(ServiceResponse.newBuilder().setName(name)));
    return services.build();
  }

  private static ServerReflectionResponse file(
      ServerReflectionResponse.Builder answer, String asked, Optional<FileDescriptor> found) {
    return found.isEmpty()
        ? missing(answer, asked)
        : answer
            .setFileDescriptorResponse(
                FileDescriptorResponse.newBuilder()
                    .addFileDescriptorProto(found.get().toProto().toByteString()))
            .build();
  }

  private static ServerReflectionResponse missing(
      ServerReflectionResponse.Builder answer, String asked) {
    return answer
        .setErrorResponse(
            ErrorResponse.newBuilder()
                .setErrorCode(NOT_FOUND)
                .setErrorMessage("%s: there is no such thing here".formatted(Text.quoted(asked))))
        .build();
  }

  /// The file that has a service, a method, a message, one inside another, or an enum.
  private static Optional<FileDescriptor> defining(String symbol) {
    return FILES.stream()
        .filter(
            file ->
                symbol.startsWith(file.getPackage() + ".")
                    && defines(file, symbol.substring(file.getPackage().length() + 1)))
        .findFirst();
  }

  private static boolean defines(FileDescriptor file, String name) {
    int dot = name.indexOf('.');
    var inside = name.substring(dot + 1);
    var outer = dot < 0 ? name : name.substring(0, dot);
    var service = file.findServiceByName(outer);
    var message = file.findMessageTypeByName(outer);
    if (dot < 0) {
      return service != null || message != null || file.findEnumTypeByName(outer) != null;
    }
    return (service != null && service.findMethodByName(inside) != null)
        || (message != null
            && (message.findNestedTypeByName(inside) != null
                || message.findEnumTypeByName(inside) != null));
  }
}
