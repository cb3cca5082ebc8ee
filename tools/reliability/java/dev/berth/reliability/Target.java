package dev.berth.reliability;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/// The server that is attacked: started by `./serve`, started in a container of an image, or
/// running somewhere already.
final class Target implements AutoCloseable {

    /// Where servers run. At most one of the two is set; without either `./serve` starts them.
    record Place(URI url, String image) {
        boolean isFixed() {
            return url != null;
        }
    }

    /// What the server lacks or suffers from. A server at a URL is as it is.
    enum Trait {
        STALLED_LOG,
        FEW_DESCRIPTORS,
        READ_ONLY_DISK,
        FULL_DISK,
        ONE_PROCESSOR,
        MANY_MODELS,
        GRPC,
        TLS_RSA,
        TLS_EC
    }

    /// How to start a server.
    ///
    /// @param heap the JVM's option for the heap outside of a container; in one, `memory` decides
    record Launch(Seeds.Model model, String heap, String memory, List<String> arguments, Set<Trait> traits) {
        static Launch of(Seeds.Model model) {
            return new Launch(model, "400m", "1g", List.of(), Set.of());
        }

        Launch heap(String size) {
            return new Launch(model, size, memory, arguments, traits);
        }

        Launch memory(String size) {
            return new Launch(model, heap, size, arguments, traits);
        }

        Launch with(String... more) {
            return new Launch(model, heap, memory, List.of(more), traits);
        }

        Launch with(Trait... more) {
            return new Launch(model, heap, memory, arguments, Set.of(more));
        }

        Launch and(Trait... more) {
            var all = new HashSet<>(traits);
            all.addAll(List.of(more));
            return new Launch(model, heap, memory, arguments, all);
        }

        boolean hasManyModels() {
            return traits.contains(Trait.MANY_MODELS);
        }

        /// Whether it serves the models of a directory.
        boolean isDirectory() {
            return model == Seeds.Model.MANY || model == Seeds.Model.GRAPHS;
        }

        /// Where innocents ask. With many models there is one for them, which is loaded first and never
        /// unloaded.
        String path() {
            return hasManyModels() || isDirectory() ? "/models/" + STEADY + "/invoke" : "/invocations";
        }
    }

    private static final Pattern USED = Pattern.compile("total .* used (\\d+)K");
    private static final int GRPC_PORT = 8081;
    private static final Path MOUNTED_TLS = Path.of("/opt/ml/tls");
    static final String STEADY = "steady";
    private static final String FIXED_HEAP = "-Xmx400m -Xms400m -XX:+AlwaysPreTouch";
    static final Path WORK = Path.of("target", "reliability");
    private static final Duration LONGEST_START = Duration.ofMinutes(5);

    /// More than any limit on it.
    private static final Duration LONGEST_PING = Duration.ofSeconds(30);

    /// Those that must not outlive the campaign, however it ends.
    private static final Set<Target> OPEN = ConcurrentHashMap.newKeySet();

    static {
        Runtime.getRuntime().addShutdownHook(new Thread(() -> OPEN.forEach(Target::close)));
    }

    private final Launch launch;
    private final Process process;
    private final String container;
    private final InetSocketAddress address;
    private final int grpcPort;
    private final Path log;
    private final Optional<Tls> tls;
    private long pid;

    private Target(
            Launch launch,
            Process process,
            String container,
            InetSocketAddress address,
            int grpcPort,
            Path log,
            Optional<Tls> tls) {
        this.launch = launch;
        this.process = process;
        this.container = container;
        this.address = address;
        this.grpcPort = grpcPort;
        this.log = log;
        this.tls = tls;
        OPEN.add(this);
    }

    /// Starts a server and waits until it is ready.
    static Target start(Place place, Launch launch) throws IOException, InterruptedException {
        var target = launched(place, launch);
        long deadline = System.nanoTime() + LONGEST_START.toNanos();
        while (!target.answersPing()) {
            if (!target.isAlive() || System.nanoTime() > deadline) {
                var log = target.log();
                target.close();
                throw new IOException("the server did not become ready; its log ends in\n" + tail(log));
            }
            Thread.sleep(50);
        }
        return target;
    }

    /// Starts a server and does not wait.
    static Target launched(Place place, Launch launch) throws IOException, InterruptedException {
        if (place.isFixed()) {
            int port = place.url.getPort() < 0 ? 80 : place.url.getPort();
            return new Target(
                    launch, null, null, new InetSocketAddress(place.url.getHost(), port), 0, null, Optional.empty());
        }
        return place.image == null ? process(launch) : container(place.image, launch);
    }

    private static Target process(Launch launch) throws IOException {
        Files.createDirectories(WORK);
        var log = Files.createTempFile(WORK, "server-", ".log");
        int port = freePort();
        var command = new ArrayList<String>();
        if (launch.traits.contains(Trait.FEW_DESCRIPTORS)) {
            command.addAll(List.of("sh", "-c", "ulimit -n 256 && exec \"$@\"", "sh"));
        }
        command.addAll(List.of("./serve", "--port", String.valueOf(port)));
        if (!launch.hasManyModels()) {
            command.addAll(List.of(
                    launch.isDirectory() ? "--models" : "--model-dir",
                    launch.model.directory().toString()));
        }
        int grpcPort = launch.traits.contains(Trait.GRPC) ? freePort() : 0;
        if (grpcPort > 0) {
            command.addAll(List.of("--grpc-port", String.valueOf(grpcPort)));
        }
        var tls = tls(launch);
        tls.ifPresent(made -> command.addAll(files(made.directory())));
        command.addAll(launch.arguments);
        var builder = new ProcessBuilder(command).redirectErrorStream(true);
        if (!launch.traits.contains(Trait.STALLED_LOG)) {
            builder.redirectOutput(log.toFile());
        }
        builder.environment()
                .put(
                        "JAVA_OPTS",
                        String.join(
                                " ",
                                "-Xmx" + launch.heap,
                                "-XX:ErrorFile=" + WORK.toAbsolutePath().resolve("hs_err_%p.log"),
                                launch.traits.contains(Trait.ONE_PROCESSOR) ? "-XX:ActiveProcessorCount=1" : "",
                                launch.hasManyModels() ? FIXED_HEAP : ""));
        builder.environment().put("SAGEMAKER_MULTI_MODEL", String.valueOf(launch.hasManyModels()));
        return new Target(launch, builder.start(), null, new InetSocketAddress("localhost", port), grpcPort, log, tls);
    }

    private static Optional<Tls> tls(Launch launch) throws IOException {
        return launch.traits.contains(Trait.TLS_RSA)
                ? Optional.of(Tls.of("RSA-2048"))
                : launch.traits.contains(Trait.TLS_EC) ? Optional.of(Tls.of("EC-256")) : Optional.empty();
    }

    /// The options for a certificate and its key.
    private static List<String> files(Path directory) {
        return List.of(
                "--tls-certificate",
                directory.resolve(Tls.CERTIFICATE).toString(),
                "--tls-key",
                directory.resolve(Tls.KEY).toString());
    }

    /// One processor and no swap, whatever the traits.
    private static Target container(String image, Launch launch) throws IOException, InterruptedException {
        var command = new ArrayList<>(List.of(
                "docker",
                "run",
                "--detach",
                "--publish",
                "127.0.0.1::8080",
                "--memory",
                launch.memory,
                "--memory-swap",
                launch.memory,
                "--cpus",
                "1",
                "--volume",
                launch.model.directory().toAbsolutePath() + ":/opt/ml/model:ro"));
        var tls = tls(launch);
        tls.ifPresent(made ->
                command.addAll(List.of("--volume", made.directory().toAbsolutePath() + ":" + MOUNTED_TLS + ":ro")));
        for (var trait : launch.traits) {
            command.addAll(
                    switch (trait) {
                        case FEW_DESCRIPTORS -> List.of("--ulimit", "nofile=256:256");
                        case READ_ONLY_DISK -> List.of("--read-only");
                        case FULL_DISK -> List.of("--tmpfs", "/tmp:size=64k", "--shm-size", "64k");
                        case STALLED_LOG -> List.of("--entrypoint", "sh");
                        case ONE_PROCESSOR, GRPC, TLS_RSA, TLS_EC -> List.of();
                        case MANY_MODELS -> manyModels();
                    });
        }
        command.add(image);
        if (launch.traits.contains(Trait.STALLED_LOG)) {
            // A pipe that stays open and that nobody reads; the server becomes process 1, as without the
            // trait.
            command.addAll(List.of(
                    "-c",
                    "busybox mkfifo /dev/shm/log; sleep 100000 < /dev/shm/log & exec /opt/berth/serve"
                            + " \"$@\" > /dev/shm/log",
                    "sh"));
        }
        command.add("serve");
        if (launch.isDirectory()) {
            command.addAll(List.of("--models", "/opt/ml/model"));
        }
        if (launch.traits.contains(Trait.GRPC)) {
            command.addAll(List.of("--grpc-port", String.valueOf(GRPC_PORT)));
        }
        tls.ifPresent(_ -> command.addAll(files(MOUNTED_TLS)));
        command.addAll(launch.arguments);
        var id = output(command).strip();
        // On Linux the container's own address, as Docker's proxy would accept connections that the
        // server does not.
        var address = System.getProperty("os.name").equals("Linux")
                ? new InetSocketAddress(inspect(id, "{{range .NetworkSettings.Networks}}{{.IPAddress}}{{end}}"), 8080)
                : new InetSocketAddress(
                        "localhost",
                        Integer.parseInt(output(List.of("docker", "port", id, "8080"))
                                .strip()
                                .replaceAll(".*:", "")));
        return new Target(launch, null, id, address, GRPC_PORT, null, tls);
    }

    /// The artifacts are where SageMaker puts them.
    private static List<String> manyModels() {
        var options =
                new ArrayList<>(List.of("--env", "SAGEMAKER_MULTI_MODEL=true", "--env", "JAVA_OPTS=" + FIXED_HEAP));
        for (var model : ManyModels.ARTIFACTS) {
            options.addAll(List.of("--volume", model.directory().toAbsolutePath() + ":" + mounted(model) + ":ro"));
        }
        return options;
    }

    private static String mounted(Seeds.Model model) {
        return "/opt/ml/models/%s/model".formatted(model.name().toLowerCase(Locale.ROOT));
    }

    /// Where the server finds an artifact that it is told to load.
    String artifact(Seeds.Model model) {
        return container == null ? model.directory().toAbsolutePath().toString() : mounted(model);
    }

    InetSocketAddress address() {
        return address;
    }

    boolean speaksGrpc() {
        return launch.traits.contains(Trait.GRPC) && grpcPort > 0;
    }

    InetSocketAddress grpcAddress() {
        return new InetSocketAddress(address.getAddress(), grpcPort);
    }

    Launch launch() {
        return launch;
    }

    Optional<Tls> tls() {
        return tls;
    }

    /// A connection for requests of HTTP/1.1, each thread's own.
    Wire wire(Duration patience) throws IOException {
        return new Wire(connect(address, patience, "http/1.1"));
    }

    /// A connection to one of the server's ports, with TLS where it has that.
    Socket connect(InetSocketAddress to, Duration patience, String protocol) throws IOException {
        var socket = new Socket();
        try {
            socket.connect(to, (int) patience.toMillis());
            socket.setSoTimeout((int) patience.toMillis());
            return tls.isPresent() ? tls.get().over(socket, protocol) : socket;
        } catch (IOException e) {
            socket.close();
            throw e;
        }
    }

    /// What is in a file of the server's, which may be in a container; nothing where there is none.
    Optional<String> file(String path) {
        try {
            return Optional.of(
                    container == null
                            ? Files.readString(Path.of(path))
                            : output(List.of("docker", "exec", container, "busybox", "cat", path)));
        } catch (IOException e) {
            return Optional.empty();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.empty();
        }
    }

    /// Whether the process that was started still runs, and has not been started again or lost a part
    /// to the kernel.
    boolean isAlive() {
        if (process != null) {
            return process.isAlive();
        }
        return container == null
                ? answersPing()
                : inspect(container, "{{.State.Running}} {{.RestartCount}} {{.State.OOMKilled}}")
                        .equals("true 0 false");
    }

    boolean answersPing() {
        try {
            return ping().status() == 200;
        } catch (IOException e) {
            return false;
        }
    }

    /// What `/ping` answers on a connection of its own.
    Wire.Answer ping() throws IOException {
        try (var wire = wire(LONGEST_PING)) {
            return wire.ask(Seeds.ascii("GET /ping HTTP/1.1\r\nHost: x\r\n\r\n"));
        }
    }

    /// Megabytes that the process holds; 0 where that can't be known.
    long residentMegabytes() {
        return status("VmRSS") / 1024;
    }

    /// Megabytes of the heap that are in use after a collection; 0 where that can't be known, as of a
    /// server elsewhere, of one whose disk is read-only, or for who may not attach to a container's
    /// process.
    long liveMegabytes() {
        if (pid() < 0) {
            return 0;
        }
        var jcmd = Path.of(System.getProperty("java.home"), "bin", "jcmd").toString();
        try {
            run(List.of(jcmd, String.valueOf(pid()), "GC.run"));
            var used = USED.matcher(run(List.of(jcmd, String.valueOf(pid()), "GC.heap_info")));
            return used.results()
                            .mapToLong(part -> Long.parseLong(part.group(1)))
                            .sum()
                    / 1024;
        } catch (UncheckedIOException _) {
            return 0;
        }
    }

    /// Without those of the web server, whose pool grows and shrinks with the connections; 0 where
    /// that can't be known.
    long threads() {
        try (var threads = Files.list(Path.of("/proc", String.valueOf(pid()), "task"))) {
            return threads.filter(thread -> !name(thread).startsWith("berth-http-"))
                    .count();
        } catch (IOException | UncheckedIOException e) {
            return 0;
        }
    }

    /// Nothing where the thread has ended meanwhile.
    private static String name(Path thread) {
        try {
            return Files.readString(thread.resolve("comm"));
        } catch (IOException e) {
            return "";
        }
    }

    /// Files and sockets that the process has open; 0 where that can't be known.
    int descriptors() {
        try (var files = Files.list(Path.of("/proc", String.valueOf(pid()), "fd"))) {
            return (int) files.count();
        } catch (IOException | UncheckedIOException e) {
            return 0;
        }
    }

    private long status(String name) {
        try (var lines = Files.lines(Path.of("/proc", String.valueOf(pid()), "status"))) {
            return lines.filter(line -> line.startsWith(name + ":"))
                    .mapToLong(line -> Long.parseLong(line.replaceAll("\\D", "")))
                    .findFirst()
                    .orElse(0);
        } catch (IOException | UncheckedIOException e) {
            return 0;
        }
    }

    /// Of the server itself, also in a container: it is process 1 there.
    private synchronized long pid() {
        if (pid == 0) {
            pid = process != null
                    ? process.pid()
                    : container != null ? Long.parseLong(inspect(container, "{{.State.Pid}}")) : -1;
        }
        return pid;
    }

    void signal(String name) throws IOException, InterruptedException {
        output(
                container != null
                        ? List.of("docker", "kill", "--signal", name, container)
                        : List.of("kill", "-" + name, String.valueOf(process.pid())));
    }

    /// Waits for the end of the process and gives its exit code; -1 when it still runs then.
    int exitCode(Duration patience) throws InterruptedException {
        if (process != null) {
            return process.waitFor(patience.toMillis(), TimeUnit.MILLISECONDS) ? process.exitValue() : -1;
        }
        long deadline = System.nanoTime() + patience.toNanos();
        while (inspect(container, "{{.State.Running}}").equals("true")) {
            if (System.nanoTime() > deadline) {
                return -1;
            }
            Thread.sleep(100);
        }
        return Integer.parseInt(inspect(container, "{{.State.ExitCode}}"));
    }

    String log() throws IOException, InterruptedException {
        if (container != null) {
            return output(List.of("docker", "logs", container));
        }
        return log == null ? "" : new String(Files.readAllBytes(log), StandardCharsets.UTF_8);
    }

    static String tail(String log) {
        var lines = log.lines().toList();
        return String.join("\n", lines.subList(Math.max(0, lines.size() - 15), lines.size()));
    }

    @Override
    public void close() {
        if (!OPEN.remove(this)) {
            return;
        }
        if (process != null) {
            process.destroyForcibly();
            process.onExit().join();
        } else if (container != null) {
            run(List.of("docker", "rm", "--force", "--volumes", container));
        }
    }

    private static int freePort() throws IOException {
        try (var socket = new ServerSocket(0)) {
            return socket.getLocalPort();
        }
    }

    private static String inspect(String container, String format) {
        return run(List.of("docker", "inspect", "--format", format, container)).strip();
    }

    static String run(List<String> command) {
        try {
            return output(command);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("interrupted within " + command, e);
        }
    }

    private static String output(List<String> command) throws IOException, InterruptedException {
        var process = new ProcessBuilder(command).redirectErrorStream(true).start();
        var output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        if (process.waitFor() != 0) {
            throw new IOException("%s: %s".formatted(command, output));
        }
        return output;
    }
}
