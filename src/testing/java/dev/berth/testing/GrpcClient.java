package dev.berth.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.google.common.util.concurrent.ListenableFuture;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import com.google.protobuf.Message;
import com.google.protobuf.Parser;
import com.google.protobuf.TextFormat;
import io.grpc.CallOptions;
import io.grpc.Codec;
import io.grpc.Compressor;
import io.grpc.CompressorRegistry;
import io.grpc.ManagedChannel;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.Status.Code;
import io.grpc.okhttp.OkHttpChannelBuilder;
import io.grpc.stub.BlockingClientCall;
import io.grpc.stub.ClientCalls;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.zip.DeflaterOutputStream;
import javax.net.ssl.SSLContext;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;

/// A client of gRPC's own library, made of the descriptors of the Open Inference Protocol.
public final class GrpcClient implements AutoCloseable {

    private static final FileDescriptor PROTO = proto();

    private final ManagedChannel channel;

    public GrpcClient(TestServer server) {
        this(server.server().otherPorts().get("HTTP/2"));
    }

    public GrpcClient(int port) {
        this(OkHttpChannelBuilder.forAddress("127.0.0.1", port).usePlaintext());
    }

    /// One that speaks TLS.
    public GrpcClient(int port, SSLContext trusted) {
        this(OkHttpChannelBuilder.forAddress("localhost", port).sslSocketFactory(trusted.getSocketFactory()));
    }

    private GrpcClient(OkHttpChannelBuilder builder) {
        var codings = CompressorRegistry.newEmptyInstance();
        codings.register(new Codec.Gzip());
        codings.register(new Deflate("deflate"));
        codings.register(new Deflate("snappy"));
        this.channel = builder.compressorRegistry(codings).build();
    }

    /// What gRPC's other libraries bring.
    private record Deflate(String getMessageEncoding) implements Compressor {
        @Override
        public OutputStream compress(OutputStream out) {
            return new DeflaterOutputStream(out);
        }
    }

    private static FileDescriptor proto() {
        try (var file = GrpcClient.class.getResourceAsStream("/protocol/inference.desc")) {
            return FileDescriptor.buildFrom(FileDescriptorSet.parseFrom(file).getFile(0), new FileDescriptor[0]);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /// A message of protobuf's text format.
    public static DynamicMessage message(String type, String text) {
        var builder = DynamicMessage.newBuilder(PROTO.findMessageTypeByName(type));
        try {
            TextFormat.merge(text, builder);
        } catch (TextFormat.ParseException e) {
            throw new IllegalArgumentException(e);
        }
        return builder.build();
    }

    /// Calls a method with a request in protobuf's text format.
    ///
    /// @throws io.grpc.StatusRuntimeException with the status of a call that fails
    public DynamicMessage call(String method, String request) {
        return call(method, message(method + "Request", request), CallOptions.DEFAULT);
    }

    public DynamicMessage call(String method, DynamicMessage request, CallOptions options) {
        return ClientCalls.blockingUnaryCall(channel, method(method), options, request);
    }

    /// Calls a method, which may be another service's, with any bytes.
    public byte[] call(String method, byte[] request) {
        var bytes = new Marshaller<byte[]>(message -> message, InputStream::readAllBytes);
        return ClientCalls.blockingUnaryCall(
                channel, method(MethodType.UNARY, method, bytes, bytes), CallOptions.DEFAULT, request);
    }

    /// Sends requests in protobuf's text format, each after the answer to the one before.
    ///
    /// @throws io.grpc.StatusRuntimeException with the status of a call that fails
    public List<DynamicMessage> stream(String method, String type, CallOptions options, String... requests)
            throws Exception {
        var answers = new ArrayList<DynamicMessage>();
        var call = open(method, type, options);
        for (var request : requests) {
            call.write(message(type, request));
            answers.add(call.read());
        }
        call.halfClose();
        if (call.read() != null) {
            throw new IllegalStateException("found an answer more than requests");
        }
        return answers;
    }

    /// Opens a stream of requests and answers.
    public BlockingClientCall<DynamicMessage, DynamicMessage> open(String method, String type, CallOptions options) {
        return ClientCalls.blockingBidiStreamingCall(
                channel, method(method, MethodType.BIDI_STREAMING, type, method + "Response"), options);
    }

    /// The channel to the server, for methods of other services.
    public ManagedChannel channel() {
        return channel;
    }

    public ListenableFuture<DynamicMessage> callAsync(String method, String request) {
        return ClientCalls.futureUnaryCall(
                channel.newCall(method(method), CallOptions.DEFAULT), message(method + "Request", request));
    }

    private static MethodDescriptor<DynamicMessage, DynamicMessage> method(String name) {
        return method(name, MethodType.UNARY, name + "Request", name + "Response");
    }

    private static MethodDescriptor<DynamicMessage, DynamicMessage> method(
            String name, MethodType type, String request, String response) {
        return method(type, name, parser(request), parser(response));
    }

    private static Parser<DynamicMessage> parser(String type) {
        return DynamicMessage.getDefaultInstance(PROTO.findMessageTypeByName(type))
                .getParserForType();
    }

    /// A method of any service.
    ///
    /// @param name with its service, unless that is the Open Inference Protocol's
    public static <Q extends Message, A extends Message> MethodDescriptor<Q, A> method(
            MethodType type, String name, Parser<Q> request, Parser<A> answer) {
        return method(
                type,
                name,
                new Marshaller<Q>(Message::toByteArray, request::parseFrom),
                new Marshaller<A>(Message::toByteArray, answer::parseFrom));
    }

    private static <Q, A> MethodDescriptor<Q, A> method(
            MethodType type, String name, Marshaller<Q> request, Marshaller<A> answer) {
        return MethodDescriptor.<Q, A>newBuilder()
                .setType(type)
                .setFullMethodName(name.contains("/") ? name : "inference.GRPCInferenceService/" + name)
                .setRequestMarshaller(request)
                .setResponseMarshaller(answer)
                .build();
    }

    private interface Reading<M> {
        M read(InputStream in) throws IOException;
    }

    private record Marshaller<M>(Function<M, byte[]> writing, Reading<M> reading)
            implements MethodDescriptor.Marshaller<M> {

        @Override
        public InputStream stream(M message) {
            return new ByteArrayInputStream(writing.apply(message));
        }

        @Override
        public M parse(InputStream stream) {
            try {
                return reading.read(stream);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
    }

    /// A message in protobuf's text format, on one line.
    public static String text(DynamicMessage message) {
        return TextFormat.printer()
                .emittingSingleLine(true)
                .printToString(message)
                .strip();
    }

    /// @param failing a call, or the reading of a stream
    /// @param message part of what the status says
    public static void assertFails(ThrowingCallable failing, Code code, String message) {
        var status = Status.fromThrowable(catchThrowable(failing));
        assertThat(status.getDescription()).contains(message);
        assertThat(status.getCode()).isEqualTo(code);
    }

    @Override
    public void close() {
        channel.shutdownNow();
    }
}
