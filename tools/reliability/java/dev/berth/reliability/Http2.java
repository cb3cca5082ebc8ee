package dev.berth.reliability;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.EOFException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/// Frames of HTTP/2 (RFC 9113), and a good call of gRPC made of them. `java.net.http` speaks no
/// HTTP/2 without TLS that does not begin as HTTP/1.1, and shows no trailers.
final class Http2 {

    static final int DATA = 0;
    static final int PING = 6;
    static final int WINDOW_UPDATE = 8;

    private static final int HEADERS = 1;
    private static final int RST_STREAM = 3;
    private static final int SETTINGS = 4;
    private static final int GOAWAY = 7;
    private static final int CONTINUATION = 9;
    private static final int END_STREAM = 1;
    private static final int END_HEADERS = 4;
    private static final int REFUSED_STREAM = 7;
    private static final int LARGEST_FRAME = 16_000;

    static final String MODEL_INFER = "/inference.GRPCInferenceService/ModelInfer";
    static final String MODEL_STREAM_INFER = "/inference.GRPCInferenceService/ModelStreamInfer";
    static final String REFLECTION = "/grpc.reflection.v1.ServerReflection/ServerReflectionInfo";

    /// What a client begins with.
    static final byte[] PREFACE = Seeds.join(Seeds.ascii("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"), frame(SETTINGS, 0, 0));

    /// `14`, UNAVAILABLE, as the value of a header, plain and in Huffman's code. In the trailers of a
    /// call that failed it is the status.
    private static final List<String> UNAVAILABLE = List.of("023134", "820b5f");

    private static final byte[] QUESTION = question("Who came?", "Bob came.");

    private Http2() {}

    static byte[] frame(int type, int flags, int stream, byte... payload) {
        return ByteBuffer.allocate(9 + payload.length)
                .putInt(payload.length << 8 | type)
                .put((byte) flags)
                .putInt(stream)
                .put(payload)
                .array();
    }

    /// The head of a POST whose body comes later, by HPACK (RFC 7541).
    static byte[] head(int stream, String path, Map<String, String> headers) {
        var head = new ByteArrayOutputStream();
        head.write(0x83);
        head.write(0x86);
        literal(head, ":path", path);
        literal(head, ":authority", "x");
        headers.forEach((name, value) -> literal(head, name, value));
        var bytes = head.toByteArray();
        var frames = new ByteArrayOutputStream();
        for (int at = 0; at < bytes.length; at += LARGEST_FRAME) {
            int end = Math.min(bytes.length, at + LARGEST_FRAME);
            frames.writeBytes(frame(
                    at == 0 ? HEADERS : CONTINUATION,
                    end == bytes.length ? END_HEADERS : 0,
                    stream,
                    Arrays.copyOfRange(bytes, at, end)));
        }
        return frames.toByteArray();
    }

    private static void literal(ByteArrayOutputStream head, String name, String value) {
        head.write(0);
        text(head, name);
        text(head, value);
    }

    private static void text(ByteArrayOutputStream head, String text) {
        int left = text.length() - 127;
        head.write(Math.min(127, text.length()));
        if (left >= 0) {
            for (; left >= 128; left /= 128) {
                head.write(left % 128 + 128);
            }
            head.write(left);
        }
        head.writeBytes(Seeds.ascii(text));
    }

    /// Asks the sample model for an answer by `ModelInfer`, on a connection of its own.
    ///
    /// @return the answer's message, with the status that HTTP would have
    /// @throws IOException when there is none
    static Wire.Answer ask(Target target, Duration patience) throws IOException {
        return call(target, MODEL_INFER, QUESTION, patience);
    }

    /// Sends one message, and nothing after it, on a connection of its own.
    ///
    /// @param message of fewer bytes than the 65,535 that HTTP/2 lets a client send at once
    static Wire.Answer call(Target target, String method, byte[] message, Duration patience) throws IOException {
        var headers = Map.of("content-type", "application/grpc", "te", "trailers", "grpc-encoding", "gzip");
        var frames = new ByteArrayOutputStream();
        frames.writeBytes(Seeds.join(PREFACE, head(1, method, headers)));
        for (int at = 0; at < message.length; at += LARGEST_FRAME) {
            int end = Math.min(message.length, at + LARGEST_FRAME);
            frames.writeBytes(
                    frame(DATA, end == message.length ? END_STREAM : 0, 1, Arrays.copyOfRange(message, at, end)));
        }
        try (var socket = target.connect(target.grpcAddress(), patience, "h2")) {
            socket.getOutputStream().write(frames.toByteArray());
            return answer(new DataInputStream(socket.getInputStream()));
        }
    }

    private static Wire.Answer answer(DataInputStream in) throws IOException {
        var body = new ByteArrayOutputStream();
        while (true) {
            var head = new byte[9];
            in.readFully(head);
            if (new String(head, StandardCharsets.ISO_8859_1).equals("HTTP/1.1 ")) {
                // It refuses connections before it knows what they speak.
                var status = new String(in.readNBytes(3), StandardCharsets.ISO_8859_1);
                return ofStatus(Integer.parseInt(status), new byte[0]);
            }
            var payload = new byte[ByteBuffer.wrap(head).getInt() >>> 8];
            in.readFully(payload);
            switch (head[3]) {
                case DATA -> body.writeBytes(payload);
                case RST_STREAM -> {
                    int code = ByteBuffer.wrap(payload).getInt();
                    if (code != REFUSED_STREAM) {
                        throw new IOException("the stream was reset with " + code);
                    }
                    return ofStatus(503, payload);
                }
                case GOAWAY -> throw new EOFException("the server ended the connection");
                default -> {
                    // Those of the connection.
                }
            }
            boolean isOfStream = head[3] == DATA || head[3] == HEADERS;
            if (isOfStream && (head[4] & END_STREAM) > 0) {
                return body.size() > 0 ? whole(body.toByteArray()) : failed(payload);
            }
        }
    }

    /// A message of gRPC begins with 0. What does not is the JSON of a refusal, whose status is that
    /// of HTTP, in the compressed head.
    private static Wire.Answer whole(byte[] body) {
        if (body[0] == 0) {
            return ofStatus(200, body);
        }
        var text = new String(body, StandardCharsets.UTF_8);
        return ofStatus(text.contains("\"code\":503") ? 503 : 500, body);
    }

    private static Wire.Answer failed(byte[] trailers) {
        var hex = HexFormat.of().formatHex(trailers);
        return ofStatus(
                UNAVAILABLE.stream().anyMatch(hex::contains) ? 503 : 500, Seeds.ascii("trailers of gRPC: " + hex));
    }

    private static Wire.Answer ofStatus(int status, byte[] body) {
        return new Wire.Answer(status, Map.of(), body);
    }

    /// A `ModelInferRequest` in protobuf's encoding. It asks for nothing but the answer, because
    /// scores may differ in their last digits.
    private static byte[] question(String question, String context) {
        return message(
                false,
                new Protobuf()
                        .text(1, "model")
                        .message(5, input("question", question))
                        .message(5, input("context", context))
                        .message(6, new Protobuf().text(1, "answer"))
                        .toBytes());
    }

    private static Protobuf input(String name, String text) {
        return new Protobuf()
                .text(1, name)
                .text(2, "BYTES")
                .bytes(3, new byte[] {1})
                .message(5, new Protobuf().text(8, text));
    }

    /// A call whose message has this field behind the name of the model, which grows when it is
    /// inflated.
    static byte[] bomb(int field, int length) {
        var first = new Protobuf().text(1, "model").start(field, length).toBytes();
        return message(true, Bombs.gzip(first, length, (byte) 'a'));
    }

    /// A message of gRPC behind its prefix.
    static byte[] message(boolean isCompressed, byte[] bytes) {
        return ByteBuffer.allocate(5 + bytes.length)
                .put((byte) (isCompressed ? 1 : 0))
                .putInt(bytes.length)
                .put(bytes)
                .array();
    }
}
