package dev.berth.reliability;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/// Attacks by what is in an artifact: its hooks, and its links.
final class HostileHooks {

    private static final int MODELS = 32;
    private static final int HUNG = 2;
    private static final int TRIES = 10;
    private static final Duration PATIENCE = Duration.ofSeconds(90);

    /// Of many models. Not in the checkout, as its tools would walk all paths of the links.
    private static final Path DIRECTORY =
            Path.of(System.getProperty("java.io.tmpdir"), "berth-reliability-" + System.getProperty("user.name"));

    private static final String NEVER_ENDS =
            "{ for (boolean on = true; on; ) { try { Thread.sleep(100); } catch (InterruptedException e)" + " { } } }";

    /// `predictFn mute` lets predictFn throw what does not say its message for longer than the time
    /// of a request.
    static final String SOURCE = """
      import dev.berth.hooks.*;
      import java.util.List;

      public final class Inference implements InferenceHandler<Void, String, String> {
        // constructor
        static final class Mute extends RuntimeException {
          @Override public String getMessage() {
            for (long end = System.nanoTime() + 8_000_000_000L; System.nanoTime() < end; ) {
              try { Thread.sleep(100); } catch (InterruptedException e) { }
            }
            return "at last";
          }
        }
        static final class Endless extends RuntimeException {
          @Override public synchronized Throwable getCause() { return new Endless(); }
        }

        private static void fail(String hook, String record) {
          if (!record.startsWith(hook + " ")) { return; }
          switch (record.substring(hook.length() + 1)) {
            case "mute" -> throw new Mute();
            case "endless" -> throw new Endless();
            case "huge" -> throw new IllegalStateException("x".repeat(50_000_000));
            default -> throw new BadInputException("x".repeat(50_000_000));
          }
        }

        public Void modelFn(ModelContext context) { return null; }
        public List<String> inputFn(InvocationRequest request) throws Exception {
          fail("inputFn", request.text());
          return List.of(request.text());
        }
        public List<String> predictFn(List<String> records, Void model) {
          records.forEach(record -> fail("predictFn", record));
          return records;
        }
        public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
          fail("outputFn", predictions.getFirst());
          return InvocationResponse.of(predictions.getFirst(), MediaType.TEXT);
        }
      }
      """;

    private HostileHooks() {}

    static List<Attacks.Case> all() {
        return List.of(
                Attacks.own(
                        "hooks-throw-what-can-not-be-asked",
                        Target.Launch.of(Seeds.Model.HOSTILE).with("--timeout", "5", "--workers", "2"),
                        HostileHooks::haveHooksThrow),
                Attacks.own(
                                "hooks-of-32-models-load-at-once",
                                Target.Launch.of(Seeds.Model.MANY).heap("256m"),
                                HostileHooks::loadAtOnce)
                        .inLongForm());
    }

    private static void haveHooksThrow(Attacks attack) throws Exception {
        for (var hook : List.of("inputFn", "predictFn", "outputFn")) {
            expect(attack, "/invocations", hook + " mute", 504);
            expect(attack, "/invocations", hook + " endless", 500);
            expect(attack, "/invocations", hook + " huge", 500);
            expect(attack, "/invocations", hook + " huge bad input", 400);
        }
    }

    /// The constructors of two never end, and they are asked first. Whoever was not answered in time
    /// asks again.
    private static void loadAtOnce(Attacks attack) throws Exception {
        var asked = new ArrayList<byte[]>();
        for (var name : names()) {
            asked.add(Seeds.Payload.of("text/plain", "hello").request(path(name)));
        }
        for (var answered : attack.start(1, asked)) {
            answered.get();
        }
        for (var name : names().subList(HUNG, HUNG + MODELS)) {
            expect(attack, path(name), "hello", 200);
        }
    }

    private static void expect(Attacks attack, String path, String text, int status) throws Exception {
        var request = Seeds.Payload.of("text/plain", text).request(path);
        int found = 503;
        for (int i = 0; i < TRIES && found == 503; i++) {
            try (var wire = attack.target().wire(PATIENCE)) {
                // The built-in handlers never answer 500, but hooks may.
                var answer = wire.ask(request);
                found = (status == 500 ? attack.counted(answer) : attack.checked(answer)).status();
            }
        }
        attack.row()
                .expect(
                        "%s of %s was answered by %d, expected %d".formatted(text, path, found, status),
                        found == status);
    }

    private static String path(String model) {
        return "/models/%s/invoke".formatted(model);
    }

    private static List<String> names() {
        var names = new ArrayList<String>();
        for (int i = 0; i < HUNG; i++) {
            names.add("hung" + i);
        }
        for (int i = 0; i < MODELS; i++) {
            names.add("m" + i);
        }
        return names;
    }

    /// A directory of models. The links in one of them lead back, and double its paths.
    static Path models() {
        for (var name : names()) {
            made(
                    name + "/code/Inference.java",
                    Seeds.ascii(name.startsWith("hung") ? SOURCE.replace("// constructor", NEVER_ENDS) : SOURCE));
        }
        for (var file : List.of("model.json", "model.pt", "tokenizer.json")) {
            made(Target.STEADY + "/" + file, Seeds.read(Path.of("model-artifact", file)));
        }
        link("m0/code/self", ".");
        for (int i = 0; i < 21; i++) {
            made("m0/d%d/file".formatted(i), new byte[0]);
            link("m0/d%d/a".formatted(i), "../d" + (i + 1));
            link("m0/d%d/b".formatted(i), "../d" + (i + 1));
        }
        return DIRECTORY;
    }

    private static void made(String file, byte[] content) {
        Seeds.made(DIRECTORY.toString(), file, content);
    }

    private static void link(String from, String to) {
        var link = DIRECTORY.resolve(from);
        try {
            Files.deleteIfExists(link);
            Files.createSymbolicLink(link, Path.of(to));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
