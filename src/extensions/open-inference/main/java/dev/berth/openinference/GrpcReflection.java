package dev.berth.openinference;

import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.Descriptors.MethodDescriptor;
import dev.berth.error.ErrorType;
import dev.berth.http.CallerText;
import dev.berth.http.ServerParts;
import io.javalin.http.Context;
import java.util.List;
import java.util.stream.Stream;

/// `grpc.reflection.v1.ServerReflection`, by which clients without the `.proto` files, such as
/// grpcurl, learn what there is. Runs on the request's virtual thread.
record GrpcReflection(ServerParts parts) {

    static final String PATH = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

    /// The same under the name that it had before, for older clients.
    static final String PATH_BEFORE = "/grpc.reflection.v1alpha.ServerReflection/ServerReflectionInfo";

    /// gRPC's code.
    private static final int NOT_FOUND = 5;

    private static final MethodDescriptor METHOD = ReflectionProtocol.getDescriptor()
            .findServiceByName("ServerReflection")
            .findMethodByName("ServerReflectionInfo");

    /// None of them imports another.
    private static final List<FileDescriptor> FILES =
            List.of(Inference.getDescriptor(), HealthProtocol.getDescriptor(), ReflectionProtocol.getDescriptor());

    void answerAll(Context ctx) throws Exception {
        Grpc.takeEach(ctx, parts, body -> {
            var asked = MessageTree.read(METHOD.getInputType(), body.first());
            Grpc.send(ctx, Grpc.frame(METHOD.getOutputType(), answer(asked)));
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
        var file = FILES.stream().filter(each -> defines(each.toProto(), name)).findFirst();
        if (file.isPresent()) {
            answer.putObject("file_descriptor_response")
                    .putArray("file_descriptor_proto")
                    .addPOJO(file.get().toProto().toByteString());
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

    /// Whether it is the name of a file, or each part of it behind the package is that of something in
    /// the file.
    private static boolean defines(FileDescriptorProto file, String name) {
        var text = file.toString();
        return name.equals(file.getName())
                || (name.startsWith(file.getPackage() + ".")
                        && Stream.of(name.substring(file.getPackage().length() + 1)
                                        .split("\\."))
                                .allMatch(part -> text.contains("name: \"%s\"".formatted(part))));
    }
}
