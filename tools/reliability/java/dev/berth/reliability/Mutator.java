package dev.berth.reliability;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.List;
import java.util.random.RandomGenerator;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/// Makes broken and odd payloads, headers and requests of random numbers, and of nothing else: the
/// same numbers give the same bytes.
final class Mutator {

    private static final int LONGEST = 64 * 1024;

    private static final List<String> WORDS = List.of(
            "null",
            "true",
            "false",
            "0",
            "-1",
            "-0",
            "1e999",
            "-1e-999",
            "NaN",
            "Infinity",
            "2147483648",
            "9223372036854775808",
            "0.1",
            "[]",
            "{}",
            "[[]]",
            "\"\"",
            "{",
            "}",
            "[",
            "]",
            ":",
            ",",
            "\"",
            "\\",
            "\\u0000",
            "\\ud800",
            "\\u4e2d",
            "\ufdfa",
            "\ufeff",
            "\0",
            "\r\n",
            "\n",
            "\"question\"",
            "\"context\"",
            "\"inputs\"",
            "\"parameters\"",
            "\"top_k\"",
            "\"instances\"",
            "\"b64\"",
            "\"max_seq_len\"",
            "\"doc_stride\"",
            "\"max_answer_len\"",
            "question,context",
            "(1,)",
            "(0,)",
            "'<f4'",
            "'|O'",
            "'<U9'",
            "True",
            "PK\u0003\u0004",
            "IHDR",
            "RIFF");

    private static final List<String> KEYS = List.of(
            "question",
            "context",
            "inputs",
            "parameters",
            "top_k",
            "max_answer_len",
            "doc_stride",
            "max_seq_len",
            "max_question_len",
            "handle_impossible_answer",
            "align_to_words",
            "instances",
            "b64",
            "signature_name",
            "x",
            "",
            "a.b",
            "\\u0000");

    private static final List<String> TYPES = List.of(
            "application/json",
            "application/jsonlines",
            "application/x-jsonlines",
            "text/csv",
            "application/x-npy",
            "application/x-npz",
            "image/png",
            "image/jpeg",
            "image/gif",
            "image/bmp",
            "image/webp",
            "application/x-image",
            "application/x-recordio",
            "application/x-tfrecord",
            "text/plain",
            "application/octet-stream");

    private static final List<String> HEADERS = List.of(
            "Accept",
            "Content-Type",
            "Expect",
            "Content-Encoding",
            "Accept-Encoding",
            "traceparent",
            "x-amzn-RequestId",
            "X-Amzn-SageMaker-Inference-Id",
            "X-Amzn-SageMaker-Custom-Attributes",
            "X-Amzn-SageMaker-Target-Model",
            "Host",
            "Connection",
            "Cookie",
            "Range",
            "If-None-Match",
            "X-Forwarded-For",
            "Upgrade",
            "Authorization",
            "Origin",
            "TE");

    private static final List<String> VALUES = List.of(
            "100-continue",
            "gzip",
            "*/*",
            "application/json;q=0",
            "text/*;q=0.5, */*;q=0.1",
            "00-" + "a".repeat(32) + "-" + "b".repeat(16) + "-01",
            "close",
            "keep-alive",
            "h2c",
            "a=b; c",
            "application/json; charset=utf-16",
            "application/json; charset=\"",
            "text/csv; header=present",
            "application/jsonlines; q=1.0001",
            "localhost:99999",
            "[::1",
            "\"",
            "\\",
            ";",
            ",,,",
            "=",
            "bytes=0-1");

    private static final List<String> FRAMES = List.of(
            "Content-Length: 0",
            "Content-Length: -1",
            "Content-Length: 5, 6",
            "Content-Length: 99999999999999999999",
            "Content-Length: 1e3",
            "Content-Length: 3",
            "Transfer-Encoding: chunked",
            "Transfer-Encoding: chunked, chunked",
            "Transfer-Encoding: gzip",
            "Transfer-Encoding : chunked",
            "Transfer-Encoding: x",
            " folded: x",
            "No colon",
            ": no name",
            "Content-Length:",
            "Host: x");

    private final RandomGenerator random;

    Mutator(RandomGenerator random) {
        this.random = random;
    }

    <T> T one(List<T> of) {
        return of.get(random.nextInt(of.size()));
    }

    boolean chance(double of) {
        return random.nextDouble() < of;
    }

    /// A body that may be broken: changed from a valid one, or made up.
    byte[] body(Seeds.Payload seed) {
        return chance(0.3) ? generated(seed.type()) : changed(seed.body());
    }

    String type(Seeds.Payload seed) {
        return chance(0.9) ? seed.type() : chance(0.7) ? one(TYPES) : headerValue();
    }

    /// The bytes after one to eight changes.
    byte[] changed(byte[] bytes) {
        for (int i = random.nextInt(1, 9); i > 0; i--) {
            bytes = changedOnce(bytes);
        }
        return bytes;
    }

    private byte[] changedOnce(byte[] bytes) {
        int from = random.nextInt(bytes.length + 1);
        int to = Math.min(bytes.length, from + (chance(0.5) ? 1 : 1 << random.nextInt(10)));
        return switch (random.nextInt(8)) {
            case 0 -> Arrays.copyOf(bytes, from);
            case 1 -> Seeds.join(Arrays.copyOf(bytes, from), Arrays.copyOfRange(bytes, to, bytes.length));
            case 2 -> with(bytes, from, to, one(WORDS).getBytes(StandardCharsets.UTF_8));
            case 3 -> with(bytes, from, from, one(WORDS).getBytes(StandardCharsets.UTF_8));
            case 4 -> with(bytes, from, from, repeated(Arrays.copyOfRange(bytes, from, to)));
            case 5 -> with(bytes, from, to, noise(to - from));
            case 6 -> with(bytes, from, to, number());
            default -> {
                var copy = bytes.clone();
                if (from < copy.length) {
                    copy[from] ^= (byte) (1 << random.nextInt(8));
                }
                yield copy;
            }
        };
    }

    private static byte[] with(byte[] bytes, int from, int to, byte[] instead) {
        return Seeds.join(Arrays.copyOf(bytes, from), instead, Arrays.copyOfRange(bytes, to, bytes.length));
    }

    private byte[] repeated(byte[] bytes) {
        var all = new ByteArrayOutputStream();
        for (int i = 1 << random.nextInt(11); i > 0 && all.size() + bytes.length < LONGEST; i--) {
            all.writeBytes(bytes);
        }
        return all.toByteArray();
    }

    private byte[] noise(int length) {
        var noise = new byte[length];
        random.nextBytes(noise);
        return noise;
    }

    /// A length or an offset that nobody means.
    private byte[] number() {
        int value = one(
                List.of(0, 1, -1, 0x7fff, 0x8000, 0xffff, 0x10000, Integer.MAX_VALUE, Integer.MIN_VALUE, 0x7ffffff7));
        return ByteBuffer.allocate(4)
                .order(chance(0.5) ? ByteOrder.LITTLE_ENDIAN : ByteOrder.BIG_ENDIAN)
                .putInt(value)
                .array();
    }

    private byte[] generated(String type) {
        return switch (type) {
            case "application/x-npy" -> npy();
            case "application/x-npz" ->
                Seeds.npz(
                        IntStream.range(0, random.nextInt(5))
                                .mapToObj(i -> i + (chance(0.8) ? ".npy" : ".txt"))
                                .toList(),
                        chance(0.7) ? npy() : noise(200));
            case "application/x-recordio" -> Seeds.recordIo(noise(random.nextInt(200)));
            case "text/csv" -> csv().getBytes(StandardCharsets.UTF_8);
            case "application/jsonlines" -> (json(4) + "\n" + json(4)).getBytes(StandardCharsets.UTF_8);
            default ->
                type.startsWith("image/") ? noise(random.nextInt(300)) : json(6).getBytes(StandardCharsets.UTF_8);
        };
    }

    private byte[] npy() {
        var shape = IntStream.range(0, random.nextInt(6))
                .mapToObj(i -> String.valueOf(chance(0.1) ? random.nextLong() : random.nextInt(5)))
                .collect(Collectors.joining(", "));
        var type = chance(0.8)
                ? "'"
                        + one(List.of("<", ">", "|", "="))
                        + one(List.of("f4", "f8", "i4", "i8", "u1", "b1", "f2", "O", "U3", "c8"))
                        + "'"
                : word();
        return Seeds.npy(type, "(" + shape + (chance(0.8) ? ",)" : ""), noise(random.nextInt(130)));
    }

    private String csv() {
        return IntStream.range(0, random.nextInt(6))
                .mapToObj(row -> IntStream.range(0, random.nextInt(1, 5))
                        .mapToObj(cell -> chance(0.2) ? "\"" + word() + "\"" : word())
                        .collect(Collectors.joining(",")))
                .collect(Collectors.joining(chance(0.9) ? "\n" : "\r"));
    }

    private String json(int depth) {
        return switch (depth == 0 ? random.nextInt(3) : random.nextInt(8)) {
            case 0 -> word();
            case 1 -> String.valueOf(random.nextInt(-3, 40));
            case 2 -> '"' + "b ".repeat(random.nextInt(20)) + '"';
            case 3, 4 ->
                IntStream.range(0, random.nextInt(4))
                        .mapToObj(i -> json(depth - 1))
                        .collect(Collectors.joining(",", "[", "]"));
            default ->
                IntStream.range(0, random.nextInt(5))
                        .mapToObj(i -> '"' + one(KEYS) + "\": " + json(depth - 1))
                        .collect(Collectors.joining(", ", "{", "}"));
        };
    }

    private String word() {
        return chance(0.6) ? one(WORDS) : Integer.toString(random.nextInt(), 36);
    }

    private String headerValue() {
        var value = chance(0.4) ? one(VALUES) : chance(0.5) ? one(TYPES) : word();
        if (chance(0.1)) {
            value = value.repeat(1 << random.nextInt(9));
        }
        // Bytes that end a header would make another request of it; those are for whole requests that
        // are broken.
        return value.replaceAll("[\r\n]", " ");
    }

    /// Header lines that leave the length of the body alone.
    String headers() {
        return IntStream.range(0, random.nextInt(1, 5))
                .mapToObj(i -> one(HEADERS) + ": " + headerValue() + "\r\n")
                .collect(Collectors.joining());
    }

    /// Bytes that may be no HTTP at all: a broken request line, several lengths, chunks that lie,
    /// requests behind each other.
    byte[] request(Seeds.Payload seed) {
        var body = seed.body().length > 2_000 ? noise(20) : seed.body();
        var line = chance(0.6)
                ? "POST /invocations HTTP/1.1"
                : "%s %s %s"
                        .formatted(
                                one(List.of(
                                        "GET",
                                        "POST",
                                        "HEAD",
                                        "PUT",
                                        "OPTIONS",
                                        "TRACE",
                                        "CONNECT",
                                        "",
                                        "PRI",
                                        "\u0016\u0003\u0001")),
                                one(List.of(
                                        "/ping",
                                        "/invocations",
                                        "*",
                                        "/",
                                        "http://x/ping",
                                        "//",
                                        "/%00",
                                        "/../ping",
                                        "/ping?" + word(),
                                        "/metrics",
                                        "x:1",
                                        word())),
                                one(List.of(
                                        "HTTP/1.1", "HTTP/1.0", "HTTP/2.0", "HTTP/0.9", "http/1.1", "", "HTTP/1.1 x")));
        var headers = "Host: x\r\nContent-Type: "
                + seed.type()
                + "\r\n"
                + (chance(0.5) ? headers() : "")
                + (chance(0.5) ? one(FRAMES) + "\r\n" : "")
                + (chance(0.3) ? one(FRAMES) + "\r\n" : "Content-Length: " + body.length + "\r\n");
        var sent = chance(0.3) ? chunks(body) : body;
        var whole = Seeds.join(Seeds.ascii(line + "\r\n" + headers + "\r\n"), sent);
        boolean again = chance(0.2) && !Wire.isHead(whole);
        whole = again ? Seeds.join(whole, whole, Seeds.ascii("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n")) : whole;
        return chance(0.5) && !Wire.isHead(whole) ? changed(whole) : whole;
    }

    private byte[] chunks(byte[] body) {
        var size = chance(0.7)
                ? Integer.toHexString(body.length)
                : one(List.of("-1", "0x5", "ffffffffffffffff", "", "5;a=b", "80000000", " 5", "zz"));
        return Seeds.join(
                Seeds.ascii(size + "\r\n"), body, Seeds.ascii(chance(0.8) ? "\r\n0\r\n\r\n" : "0\r\nA: b\r\n\r\n"));
    }
}
