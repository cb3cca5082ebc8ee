package dev.berth.openinference;

import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.GenericDescriptor;
import com.google.protobuf.InvalidProtocolBufferException;
import dev.berth.error.ErrorType;
import dev.berth.http.CallerText;
import dev.berth.http.ServerParts;
import dev.berth.openinference.ReflectionProtocol.ErrorResponse;
import dev.berth.openinference.ReflectionProtocol.FileDescriptorResponse;
import dev.berth.openinference.ReflectionProtocol.ListServiceResponse;
import dev.berth.openinference.ReflectionProtocol.ServerReflectionRequest;
import dev.berth.openinference.ReflectionProtocol.ServerReflectionResponse;
import dev.berth.openinference.ReflectionProtocol.ServiceResponse;
import io.javalin.http.Context;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/// `grpc.reflection.v1.ServerReflection`, by which clients without the `.proto` files, such as
/// grpcurl, learn what there is. Runs on the request's virtual thread.
record GrpcReflection(ServerParts parts) {

    static final String PATH = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

    /// The same under the name that it had before, for older clients.
    static final String PATH_BEFORE = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

    /// gRPC's code.
    private static final int NOT_FOUND = 5;

    /// The most bytes of a request, which names a host and a method. The answer repeats it.
    private static final int LONGEST = 16 << 10;

    /// None of them imports another.
    private static final List<FileDescriptor> FILES =
            List.of(Inference.getDescriptor(), HealthProtocol.getDescriptor(), ReflectionProtocol.getDescriptor());

    /// By their names, and by those of all that they define.
    private static final Map<String, FileDescriptor> DEFINING = FILES.stream()
            .flatMap(GrpcReflection::all)
            .collect(Collectors.toUnmodifiableMap(GenericDescriptor::getFullName, GenericDescriptor::getFile));

    private static Stream<GenericDescriptor> all(FileDescriptor file) {
        return Stream.of(
                        Stream.of(file),
                        file.getServices().stream(),
                        file.getServices().stream().flatMap(service -> service.getMethods().stream()),
                        file.getEnumTypes().stream(),
                        file.getMessageTypes().stream().flatMap(GrpcReflection::all))
                .flatMap(defined -> defined);
    }

    private static Stream<GenericDescriptor> all(Descriptor message) {
        return Stream.of(
                        Stream.of(message),
                        message.getEnumTypes().stream(),
                        message.getNestedTypes().stream().flatMap(GrpcReflection::all))
                .flatMap(defined -> defined);
    }

    void answerAll(Context ctx) throws Exception {
        Grpc.takeEach(ctx, parts, body -> {
            try {
                var message = body.readNBytes(LONGEST + 1);
                if (message.length > LONGEST) {
                    throw ErrorType.BAD_INPUT.because(
                            "message: found more than %d bytes, expected a ServerReflectionRequest".formatted(LONGEST));
                }
                Grpc.send(ctx, Grpc.frame(answer(ServerReflectionRequest.parseFrom(message))));
            } catch (InvalidProtocolBufferException e) {
                throw ErrorType.BAD_INPUT.because("message: not a ServerReflectionRequest", e);
            }
        });
    }

    private static ServerReflectionResponse answer(ServerReflectionRequest asked) {
        var answer = ServerReflectionResponse.newBuilder()
                .setValidHost(asked.getHost())
                .setOriginalRequest(asked);
        switch (asked.getMessageRequestCase()) {
            case LIST_SERVICES -> answer.setListServicesResponse(services());
            case FILE_BY_FILENAME -> add(answer, asked.getFileByFilename());
            case FILE_CONTAINING_SYMBOL -> add(answer, asked.getFileContainingSymbol());
            case FILE_CONTAINING_EXTENSION, ALL_EXTENSION_NUMBERS_OF_TYPE ->
                fail(answer, "there are no extensions here");
            case MESSAGEREQUEST_NOT_SET ->
                throw ErrorType.BAD_INPUT.because("message_request: found none, expected one");
        }
        return answer.build();
    }

    private static ListServiceResponse services() {
        return ListServiceResponse.newBuilder()
                .addAllService(FILES.stream()
                        .flatMap(file -> file.getServices().stream())
                        .map(service -> ServiceResponse.newBuilder()
                                .setName(service.getFullName())
                                .build())
                        .toList())
                .build();
    }

    private static void add(ServerReflectionResponse.Builder answer, String asked) {
        var found = DEFINING.get(asked);
        if (found == null) {
            fail(answer, "%s: there is no such thing here".formatted(CallerText.quoted(asked)));
        } else {
            answer.setFileDescriptorResponse(FileDescriptorResponse.newBuilder()
                    .addFileDescriptorProto(found.toProto().toByteString()));
        }
    }

    private static void fail(ServerReflectionResponse.Builder answer, String why) {
        answer.setErrorResponse(
                ErrorResponse.newBuilder().setErrorCode(NOT_FOUND).setErrorMessage(why));
    }
}
