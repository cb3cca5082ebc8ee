package dev.berth.desk;

import dev.berth.config.ServerConfig;
import dev.berth.error.ErrorType;
import dev.berth.http.Draining;
import dev.berth.storage.Location;
import dev.berth.storage.Storage;
import dev.berth.storage.StorageException;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStream;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.function.UnaryOperator;
import org.eclipse.jetty.util.component.AbstractLifeCycle;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// The queue of an asynchronous endpoint, and what works it off. Whatever is accepted has an object
/// in the end: the container's answer, or at another place why there is none. As on the platform,
/// that is the body of the container's error where it has answered with one.
///
/// An invocation is sent to the container once. Used by any threads.
final class AsyncInvocations extends AbstractLifeCycle implements Draining {

    private static final Logger log = LoggerFactory.getLogger(AsyncInvocations.class);

    /// For what the container has answered to be written when the server stops.
    private static final Duration LAST_OBJECTS = Duration.ofSeconds(5);

    private final Location answers;
    private final Location failures;
    private final Optional<Path> inputs;
    private final Storage storage;
    private final ThreadPoolExecutor queue;
    private final ExecutorService calls = Executors.newVirtualThreadPerTaskExecutor();
    private final HttpClient client =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();

    /// What a client is told.
    record Accepted(String inferenceId, String output, String failure) {}

    /// @param answers a directory or `s3://bucket/prefix`
    private AsyncInvocations(ServerConfig config, String answers) {
        this.storage = new Storage(flag ->
                flag.equals("--endpoint-url") ? config.find(DeskConfig.S3).map(URI::toString) : Optional.empty());
        this.answers = storage.at(answers);
        // Without the slash it would be a beginning of other names in S3.
        this.failures = storage.at(config.find(DeskConfig.FAILURES)
                .orElseGet(() -> this.answers.resolve("failures").toString())
                .replaceFirst("/*$", "/"));
        this.inputs = config.find(DeskConfig.INPUT);
        this.queue = new ThreadPoolExecutor(
                config.get(DeskConfig.CONCURRENCY),
                config.get(DeskConfig.CONCURRENCY),
                0,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(config.get(DeskConfig.QUEUE)),
                Thread.ofVirtual().name("berth-async-", 0).factory());
    }

    /// Empty where no place for answers is set.
    static Optional<AsyncInvocations> of(ServerConfig config) {
        return config.find(DeskConfig.OUTPUT).map(answers -> new AsyncInvocations(config, answers));
    }

    /// Takes an invocation, which waits for its turn then.
    ///
    /// @param container where the container answers, such as `http://127.0.0.1:8080/invocations`
    /// @param header the value of a request's header; null where it has none
    /// @param body empty: the payload is in an object
    /// @throws dev.berth.error.ServingException where something asked is wrong, or there is no room
    Accepted accept(URI container, UnaryOperator<String> header, byte[] body) {
        // Ids may repeat and have any character, so they name no objects.
        var unique = UUID.randomUUID().toString();
        var asked = AsyncRequest.of(header, body, unique);
        var input = asked.input().map(text -> checked(ErrorType.BAD_INPUT, "InputLocation", () -> input(text)));
        var failure = own(failures.resolve(unique + "-error.out"));
        var answer = asked.name()
                .map(name -> checked(ErrorType.BAD_INPUT, "S3OutputPathExtension and Filename", () -> answer(name)))
                .orElseGet(() -> own(answers.resolve(unique + ".out")));
        var invocation = new Invocation(this, container, asked, input, answer, failure);
        try {
            queue.execute(invocation);
        } catch (RejectedExecutionException e) {
            throw queue.isShutdown()
                    ? ErrorType.NOT_READY.because("the server is stopping", e)
                    : ErrorType.OVERLOADED.because(
                            "Rate exceeded: %d asynchronous invocations wait already (--async-queue)"
                                    .formatted(queue.getQueue().size()),
                            e);
        }
        return new Accepted(asked.id(), invocation.answer.toString(), invocation.failure.toString());
    }

    /// Callers name the files, so all but one directory is closed to them.
    private Location input(String text) {
        var location = storage.at(text);
        // Whatever links lead there. A file that is not there is missed when its turn comes.
        if (location.file().isPresent()
                && inputs.filter(below -> location.isListedIn(storage.at(below)))
                        .isEmpty()) {
            throw StorageException.permanent(
                    location,
                    inputs.map(
                                    "found a file elsewhere, expected s3://bucket/key or a file below %s (--async-input)"
                                            ::formatted)
                            .orElse("found a file, expected s3://bucket/key; --async-input names a directory of files"),
                    null);
        }
        return location;
    }

    /// Callers name answers, so the place for failures is closed to them.
    private Location answer(String name) {
        var answer = answers.resolve(name);
        if (isOfFailures(answer) && !isOfFailures(answers)) {
            throw StorageException.permanent(answer, "found the place for failures, expected another name", null);
        }
        return writable(answer);
    }

    /// Whether it is that place, or an object there.
    private boolean isOfFailures(Location object) {
        return object.resolve("-").isListedIn(failures);
    }

    /// In S3 nothing can be in the way of a name, and asking would cost requests.
    private static Location writable(Location object) {
        if (object.file().isPresent()) {
            object.create().close();
        }
        return object;
    }

    /// An object that the server names: where it can't be written, no caller is to blame.
    private static Location own(Location object) {
        return checked(ErrorType.NOT_READY, "nothing can be accepted now", () -> writable(object));
    }

    private static Location checked(ErrorType failure, String what, Supplier<Location> location) {
        try {
            return location.get();
        } catch (StorageException e) {
            throw failure.because("%s: %s".formatted(what, e.getMessage()), e);
        }
    }

    /// Takes no more, and says of what waits that it has failed. What the container is asked goes on.
    @Override
    public void refuse() {
        queue.shutdown();
        var waiting = new ArrayList<Runnable>();
        queue.getQueue().drainTo(waiting);
        waiting.forEach(invocation -> calls.execute(
                () -> ((Invocation) invocation).fail("the server stopped before its turn; send it again")));
    }

    @Override
    public Duration mostToStop() {
        return LAST_OBJECTS;
    }

    /// Waits for the objects of what was answered or has failed. The container must have answered
    /// all, or never will.
    @Override
    protected void doStop() throws InterruptedException {
        refuse();
        if (!queue.awaitTermination(LAST_OBJECTS.toMillis(), TimeUnit.MILLISECONDS)) {
            // What is interrupted says that it has failed.
            calls.shutdownNow();
            queue.awaitTermination(1, TimeUnit.SECONDS);
        }
        calls.shutdown();
        calls.awaitTermination(LAST_OBJECTS.toMillis(), TimeUnit.MILLISECONDS);
        client.shutdownNow();
        storage.close();
    }

    /// One that was accepted.
    private record Invocation(
            AsyncInvocations all,
            URI container,
            AsyncRequest asked,
            Optional<Location> input,
            Location answer,
            Location failure)
            implements Runnable {

        @Override
        public void run() {
            if (asked.turn().isOver()) {
                fail("it expired: RequestTTLSeconds were over before its turn");
                return;
            }
            try {
                all.calls
                        .invokeAll(List.of(this::ask), asked.timeout().toMillis(), TimeUnit.MILLISECONDS)
                        .getFirst()
                        .get();
            } catch (CancellationException e) {
                fail("it expired: InvocationTimeoutSeconds, %d s, were over before it was answered"
                        .formatted(asked.timeout().toSeconds()));
            } catch (ExecutionException e) {
                fail(reason(e.getCause()));
            } catch (InterruptedException | RejectedExecutionException e) {
                fail(reason(e));
            }
        }

        private Void ask() throws IOException, InterruptedException {
            long length = input.isPresent()
                    ? input.get()
                            .size()
                            .orElseThrow(() -> StorageException.permanent(input.get(), "found no such object", null))
                    : asked.body().length;
            try (var payload = input.isPresent() ? input.get().open() : new ByteArrayInputStream(asked.body())) {
                var publisher = BodyPublishers.ofInputStream(() -> payload);
                var request = HttpRequest.newBuilder(container)
                        .POST(length == 0 ? BodyPublishers.noBody() : BodyPublishers.fromPublisher(publisher, length));
                asked.headers().forEach(request::header);
                var response = all.client.send(request.build(), BodyHandlers.ofInputStream());
                try (var body = response.body()) {
                    all.write(
                            response.statusCode() == 200 ? answer : failure,
                            response.headers().firstValue("Content-Type"),
                            body);
                }
            }
            return null;
        }

        /// In the words of the platform where no container has answered.
        private void fail(String reason) {
            var text = "Received server error (0) from primary with message \"%s\"".formatted(reason);
            log.warn("an asynchronous invocation failed, see {}", failure);
            try {
                all.write(
                        failure,
                        Optional.of("text/plain"),
                        new ByteArrayInputStream(text.getBytes(StandardCharsets.UTF_8)));
            } catch (IOException | RuntimeException e) {
                log.error("what became of an asynchronous invocation can't be written", e);
            }
        }
    }

    private void write(Location object, Optional<String> type, InputStream body) throws IOException {
        try (var out = object.create(type)) {
            body.transferTo(out);
            out.commit();
        }
    }

    private static String reason(Throwable failure) {
        return switch (failure) {
            case InterruptedException _, RejectedExecutionException _ ->
                "the server stopped before it was answered; send it again";
            // Of what is read and written. The client of HTTP has it as a cause.
            case StorageException e -> e.getMessage();
            case IOException e when e.getCause() instanceof StorageException cause -> cause.getMessage();
            default -> failure.toString();
        };
    }
}
