package dev.berth.reliability;

import java.io.IOException;
import java.io.OutputStream;
import java.net.InetSocketAddress;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.stream.IntStream;

/// Clients that never stop to send, and clients that hold what they have, over HTTP/1.1, WebSockets
/// and HTTP/2.
final class Floods {

    private static final byte[] PING = Seeds.ascii("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n");
    private static final byte[] SCRAPE = Seeds.ascii("GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    private static final byte[] CHUNKED = Seeds.ascii("""
          POST /invocations HTTP/1.1\r
          Host: x\r
          Content-Type: application/json\r
          Transfer-Encoding: chunked\r
          \r
          """);
    private static final byte[] HANDSHAKE = Seeds.ascii("""
          GET /invocations-bidirectional-stream HTTP/1.1\r
          Host: x\r
          Upgrade: websocket\r
          Connection: Upgrade\r
          Sec-WebSocket-Version: 13\r
          Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r
          \r
          """);

    /// A WebSocket's frame of one blank, masked by zeros: the first of a message, and one that goes
    /// on.
    private static final byte[] FIRST_FRAME = {1, (byte) 0x81, 0, 0, 0, 0, ' '};

    private static final byte[] NEXT_FRAME = {0, (byte) 0x81, 0, 0, 0, 0, ' '};

    private static final int STREAMS = 128;

    /// More connections than a server has threads that read.
    private static final int MANY = 64;

    private static final Duration FLOOD = Duration.ofSeconds(3);

    private static final int MEBIBYTE = 1 << 20;

    /// One that has room for what is too much for the cores.
    private static final String LARGE_HEAP = "4g";

    /// Fields of a `ModelInferRequest` and of a `ServerReflectionRequest`.
    private static final int RAW_INPUT_CONTENTS = 7;

    private static final int FILE_CONTAINING_SYMBOL = 4;
    private static final int CALLERS = 8;
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    private static final int SENDERS = 4;
    private static final int HANDSHAKES = 2_000;

    /// Longer than the pulse of a server waits for its answer.
    private static final Duration HELLOS = Duration.ofSeconds(8);

    private Floods() {}

    static List<Attacks.Case> all() {
        return List.of(
                endless("flood-socket-fragments", Seeds.join(HANDSHAKE, FIRST_FRAME), NEXT_FRAME),
                endless("flood-chunks", CHUNKED, Seeds.ascii("1\r\n \r\n")),
                endless("flood-http2-data", Seeds.join(Http2.PREFACE, call(1, 0)), Http2.frame(Http2.DATA, 0, 1, (byte)
                        ' ')),
                endless("flood-http2-pings", Http2.PREFACE, Http2.frame(Http2.PING, 0, 0, new byte[8]))
                        .inLongForm(),
                endless(
                                "flood-http2-windows",
                                Seeds.join(Http2.PREFACE, call(1, 0)),
                                Http2.frame(Http2.WINDOW_UPDATE, 0, 1, (byte) 0, (byte) 0, (byte) 0, (byte) 1))
                        .inLongForm(),
                held("hold-pipelined-pings", 512, repeated(3_000, PING)),
                held("hold-unread-metrics", 1_200, repeated(10, SCRAPE)).inLongForm(),
                held("hold-idle-sockets", 1_200, HANDSHAKE),
                held("hold-10000-connections", 10_000, PING).inLongForm(),
                held("hold-half-messages", 60, Seeds.join(HANDSHAKE, FIRST_FRAME, megabytes(26))),
                held("hold-idle-http2", 1_200, Http2.PREFACE).inLongForm(),
                held("hold-http2-streams", 260, Seeds.join(Http2.PREFACE, calls(0))),
                held("hold-http2-streams-with-large-heads", 150, Seeds.join(Http2.PREFACE, calls(15_000)))
                        .inLongForm(),
                Attacks.watched("bomb-gzip-bodies", launch().heap(LARGE_HEAP), Floods::inflateBodies),
                Attacks.watched("bomb-gzip-names", launch().heap(LARGE_HEAP), Floods::inflateNames),
                bombs("bomb-grpc-messages", Http2.MODEL_INFER, RAW_INPUT_CONTENTS)
                        .inLongForm(),
                bombs("bomb-grpc-streams", Http2.MODEL_STREAM_INFER, RAW_INPUT_CONTENTS)
                        .inLongForm(),
                bombs("bomb-grpc-reflection", Http2.REFLECTION, FILE_CONTAINING_SYMBOL),
                hellos("flood-tls-hellos", Target.Trait.TLS_RSA).inLongForm(),
                hellos("flood-tls-hellos-ec", Target.Trait.TLS_EC).inLongForm(),
                handshakes("hold-tls-handshakes", Target.Trait.TLS_RSA).inLongForm(),
                handshakes("hold-tls-handshakes-ec", Target.Trait.TLS_EC).inLongForm(),
                Attacks.own(
                        "hold-all-kinds-with-few-descriptors",
                        launch().with(Target.Trait.GRPC, Target.Trait.FEW_DESCRIPTORS),
                        attack -> {
                            try (var connections = new Connections(attack)) {
                                connections.open(200, Http2.PREFACE, Http2.PREFACE);
                                connections.open(200, HANDSHAKE, HANDSHAKE);
                                connections.open(36, PING, repeated(3_000, PING));
                                Thread.sleep(FLOOD);
                            }
                        }));
    }

    private static Target.Launch launch() {
        return Target.Launch.of(Seeds.Model.QA).heap("256m").with(Target.Trait.GRPC);
    }

    /// A few connections that send on and on, fewer than there are cores, as many, and more.
    private static Attacks.Case endless(String name, byte[] first, byte[] again) {
        var more = repeated(2_000, again);
        return Attacks.watched(name, launch(), attack -> {
            int cores = Runtime.getRuntime().availableProcessors();
            for (int count : attack.isStrict() ? List.of(cores - 1, cores, cores + 1, MANY) : List.of(cores + 1)) {
                try (var connections = new Connections(attack)) {
                    connections.open(count, first, first);
                    connections.sendOn(more);
                }
            }
        });
    }

    /// On every route that reads a body: of the container's contract, of other protocols, tasks and
    /// dialects.
    private static void inflateBodies(Attacks attack) throws Exception {
        var body = Bombs.gzip(new byte[0], 400 * MEBIBYTE, (byte) ' ');
        for (var path : List.of(
                "/invocations",
                "/v2/models/model/infer",
                "/",
                "/v1/embeddings",
                "/predictions/model",
                "/endpoints/any/invocations")) {
            var request = zipped(path, body);
            // The errors of other protocols have forms of their own.
            together(attack, attack.isStrict() ? MANY : MANY / 8, () -> attack.exchange(request));
        }
    }

    private static void inflateNames(Attacks attack) throws Exception {
        attack.send(attack.isStrict() ? 16 : 4, zipped("/invocations", Bombs.gzipName(50 * MEBIBYTE)));
    }

    private static byte[] zipped(String path, byte[] body) {
        return Seeds.request("POST", path, "Content-Type: application/json\r\nContent-Encoding: gzip\r\n", body);
    }

    /// Messages that are too large when they are inflated, and messages that are not.
    private static Attacks.Case bombs(String name, String method, int field) {
        return Attacks.watched(name, launch().heap(LARGE_HEAP), attack -> {
            for (int length : new int[] {60 * MEBIBYTE, 30 * MEBIBYTE}) {
                var message = Http2.bomb(field, length);
                together(attack, CALLERS, () -> Http2.call(attack.target(), method, message, PATIENCE));
            }
        });
    }

    /// Asks so many times at once, and waits for all answers.
    private static void together(Attacks attack, int times, Callable<Wire.Answer> asking) throws Exception {
        var asked = new ArrayList<Future<?>>();
        for (int i = 0; i < times; i++) {
            asked.add(Attacks.start(() -> {
                try {
                    attack.counted(asking.call());
                } catch (IOException e) {
                    attack.count("cut off");
                }
            }));
        }
        for (var each : asked) {
            each.get();
        }
    }

    /// Senders that say hello on one connection after another and wait for no answer, on both ports.
    private static Attacks.Case hellos(String name, Target.Trait tls) {
        return Attacks.watched(name, launch().and(tls), attack -> {
            var hello = attack.target().tls().orElseThrow().hello();
            long end = System.nanoTime() + HELLOS.toNanos();
            var senders = new ArrayList<Future<?>>();
            for (int i = 0; i < SENDERS; i++) {
                var address = i % 4 == 3
                        ? attack.target().grpcAddress()
                        : attack.target().address();
                senders.add(Attacks.start(() -> {
                    while (System.nanoTime() < end) {
                        hangUp(attack, address, hello);
                    }
                }));
            }
            for (var sender : senders) {
                sender.get();
            }
        });
    }

    private static void hangUp(Attacks attack, InetSocketAddress address, byte[] bytes) {
        try (var socket = new Socket()) {
            socket.connect(address, 5_000);
            socket.getOutputStream().write(bytes);
            attack.count("opened");
        } catch (IOException e) {
            attack.count("cut off");
        }
    }

    /// Half of the connections have said hello and leave it at that, half of them have not come to
    /// its end.
    private static Attacks.Case handshakes(String name, Target.Trait tls) {
        return Attacks.watched(name, launch().and(tls), attack -> {
            var hello = attack.target().tls().orElseThrow().hello();
            try (var connections = new Connections(attack)) {
                connections.open(HANDSHAKES / 2, hello, hello);
                connections.open(HANDSHAKES / 2, hello, Arrays.copyOf(hello, hello.length / 2));
                Thread.sleep(FLOOD);
            }
        });
    }

    /// Connections that send what they have and then only stay, and read nothing.
    private static Attacks.Case held(String name, int count, byte[] bytes) {
        return Attacks.watched(name, launch(), attack -> {
            try (var connections = new Connections(attack)) {
                connections.open(count, bytes, bytes);
                Thread.sleep(FLOOD);
            }
        });
    }

    private static final class Connections implements AutoCloseable {
        private final Attacks attack;
        private final List<Socket> sockets = new ArrayList<>();

        private Connections(Attacks attack) {
            this.attack = attack;
        }

        /// @param kind what begins with the preface of HTTP/2 goes to the port of gRPC
        private void open(int count, byte[] kind, byte[] bytes) throws InterruptedException {
            var address = kind[0] == 'P'
                    ? attack.target().grpcAddress()
                    : attack.target().address();
            var threads = IntStream.range(0, count)
                    .mapToObj(_ -> Thread.ofVirtual().start(() -> {
                        try {
                            var socket = new Socket();
                            synchronized (sockets) {
                                sockets.add(socket);
                            }
                            socket.connect(address, 5_000);
                            attack.count("opened");
                            socket.getOutputStream().write(bytes);
                        } catch (IOException e) {
                            attack.count("cut off");
                        }
                    }))
                    .toList();
            for (var thread : threads) {
                // Some are not read to the end as long as they read nothing themselves.
                thread.join(FLOOD);
            }
        }

        private void sendOn(byte[] more) throws InterruptedException {
            long end = System.nanoTime() + FLOOD.toNanos();
            var threads = new ArrayList<Thread>();
            for (var socket : sockets) {
                // What HTTP/2 answers must be read, or its pings fill the server's buffers.
                Thread.ofPlatform().daemon().start(() -> drain(socket));
                threads.add(Thread.ofPlatform().start(() -> {
                    try {
                        while (System.nanoTime() < end) {
                            socket.getOutputStream().write(more);
                        }
                    } catch (IOException e) {
                        attack.count("cut off");
                    }
                }));
            }
            for (var thread : threads) {
                thread.join();
            }
        }

        private static void drain(Socket socket) {
            try {
                socket.getInputStream().transferTo(OutputStream.nullOutputStream());
            } catch (IOException e) {
                // It is closed.
            }
        }

        @Override
        public void close() throws IOException {
            synchronized (sockets) {
                for (var socket : sockets) {
                    socket.close();
                }
            }
        }
    }

    /// Frames of a message that does not end.
    private static byte[] megabytes(int count) {
        var frame = ByteBuffer.allocate(14 + (1 << 20))
                .put((byte) 0)
                .put((byte) 0xff)
                .putLong(1 << 20);
        return repeated(count, frame.array());
    }

    private static byte[] calls(int padding) {
        return Seeds.join(IntStream.range(0, STREAMS)
                .mapToObj(i -> call(2 * i + 1, padding))
                .toArray(byte[][]::new));
    }

    /// The head of a request whose body does not come.
    ///
    /// @param padding letters of a header besides
    private static byte[] call(int stream, int padding) {
        return Http2.head(stream, "/invocations", padding > 0 ? Map.of("x-padding", "a".repeat(padding)) : Map.of());
    }

    private static byte[] repeated(int count, byte[] bytes) {
        var all = ByteBuffer.allocate(count * bytes.length);
        for (int i = 0; i < count; i++) {
            all.put(bytes);
        }
        return all.array();
    }
}
