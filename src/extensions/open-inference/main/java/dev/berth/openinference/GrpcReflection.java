package dev.berth.openinference;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.GenericDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import dev.berth.error.ErrorType;
import dev.berth.http.CallerText;
import dev.berth.http.ServerParts;
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

    private static final MethodDescriptor METHOD = ReflectionProtocol.getDescriptor()
            .findServiceByName("ServerReflection")
            .findMethodByName("ServerReflectionInfo");

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
            var message = body.readNBytes(LONGEST + 1);
            if (message.length > LONGEST) {
                throw ErrorType.BAD_INPUT.because(
                        "message: found more than %d bytes, expected a ServerReflectionRequest".formatted(LONGEST));
            }
            var asked = MessageTree.read(METHOD.getInputType(), message);
            Grpc.send(ctx, Grpc.frame(METHOD, answer(asked)));
        });
    }

    private static ObjectNode answer(ObjectNode asked) {
        var answer = JsonNodeFactory.instance
                .objectNode()
                .put("valid_host", asked.path("host").textValue())
                .<ObjectNode>set("original_request", asked);
        if (asked.has("list_services")) {
            var services = answer.putObject("list_services_response").putArray("service");
            FILES.stream()
                    .flatMap(file -> file.getServices().stream())
                    .forEach(service -> services.addObject().put("name", service.getFullName()));
            return answer;
        }
        var name = asked.path("file_by_filename")
                .asText(asked.path("file_containing_symbol").asText());
        if (DEFINING.containsKey(name)) {
            answer.putObject("file_descriptor_response")
                    .putArray("file_descriptor_proto")
                    .addPOJO(DEFINING.get(name).toProto().toByteString());
            return answer;
        }
        if (asked.size() == 1) {
            throw ErrorType.BAD_INPUT.because("message_request: found none, expected one");
        }
        answer.putObject("error_response")
                .put("error_code", NOT_FOUND)
                .put(
                        "error_message",
                        name.isEmpty()
                                ? "there are no extensions here"
                                : "%s: there is no such thing here".formatted(CallerText.quoted(name)));
        return answer;
    }
}
