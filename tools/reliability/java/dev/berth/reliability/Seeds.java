package dev.berth.reliability;

import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;

/// Valid payloads: what good clients send, and what the fuzzer begins with.
final class Seeds {

    /// A body and its content type.
    record Payload(String type, byte[] body) {
        static Payload of(String type, String body) {
            return new Payload(type, body.getBytes(StandardCharsets.UTF_8));
        }

        byte[] request() {
            return Seeds.request("Content-Type: " + type + "\r\n", body);
        }

        byte[] request(String path) {
            return Seeds.request("POST", path, "Content-Type: " + type + "\r\n", body);
        }
    }

    /// What is served. Each has requests that must always be answered in the same words.
    enum Model {
        QA,
        TENSOR,
        PICTURES,
        CLASSES,
        NOTHING,
        FILLER,
        HOSTILE,
        MANY,
        GRAPHS,
        FIFO,
        BROKEN;

        Path directory() {
            return switch (this) {
                case QA -> Path.of("model-artifact");
                case PICTURES -> Path.of("examples", "mnist");
                case CLASSES -> Path.of("examples", "image-classification");
                case NOTHING -> Path.of("tools", "bench", "nothing");
                case TENSOR -> made("tensor", "model.pt", read(Path.of("examples", "mnist", "model.pt")));
                case FILLER -> made("filler", "code/Inference.java", ascii(FILLS_THE_HEAP));
                case HOSTILE -> made("hostile", "code/Inference.java", ascii(HostileHooks.SOURCE));
                case MANY -> HostileHooks.models();
                case GRAPHS -> HostileGraphs.models();
                case FIFO -> withFifo();
                case BROKEN -> made("broken", "model.pt", ascii("no TorchScript"));
            };
        }

        List<Payload> good() {
            return switch (this) {
                case QA, MANY, GRAPHS, FIFO -> QUESTIONS;
                case TENSOR -> TENSORS;
                case PICTURES -> pictures();
                case CLASSES -> classes();
                case BROKEN -> List.of();
                case NOTHING, FILLER, HOSTILE ->
                    List.of(Payload.of("text/plain", "hello"), Payload.of("application/json", "[1, 2]"));
            };
        }
    }

    private static final String FILLS_THE_HEAP = """
      import dev.berth.hooks.*;
      import java.util.ArrayList;
      import java.util.List;

      /// Answers with what it gets, and keeps memory for ever when it is asked to.
      public final class Inference implements InferenceHandler<Void, String, String> {
        private static final List<byte[]> KEPT = new ArrayList<>();

        public Void modelFn(ModelContext context) { return null; }
        public List<String> inputFn(InvocationRequest request) throws Exception {
          var text = request.text();
          while (text.equals("fill the heap")) {
            KEPT.add(new byte[100_000]);
          }
          return List.of(text);
        }
        public List<String> predictFn(List<String> records, Void model) { return records; }
        public InvocationResponse outputFn(List<String> predictions, InvocationRequest request) {
          return InvocationResponse.of(predictions.getFirst(), MediaType.TEXT);
        }
      }
      """;

    private static final String CONTEXT =
            "Marie Curie was born in Warsaw. She discovered radium and polonium in Paris.";

    private static final List<Payload> QUESTIONS = List.of(
            Payload.of("application/json", "{\"question\": \"Who came?\", \"context\": \"Bob came.\"}"),
            Payload.of(
                    "application/json",
                    "[{\"question\": \"Where was Marie Curie born?\", \"context\": \"%s\"}]".formatted(CONTEXT)),
            Payload.of("application/json", """
              {"inputs": {"question": "What did she discover?", "context": "%s"},
               "parameters": {"top_k": 2, "max_answer_len": 9, "doc_stride": 8, "max_seq_len": 32, "align_to_words": false}}\
              """.formatted(CONTEXT)),
            Payload.of("application/jsonlines", """
              {"question": "Who came?", "context": "Bob came."}
              {"question": "どこ?", "context": "東京で会いました。"}
              """),
            Payload.of(
                    "text/csv", "question,context\nWho came?,Bob came.\n\"Who, then?\",\"Ann \"\"Bee\"\" came.\"\n"));

    private static final List<Payload> TENSORS = tensors();

    private Seeds() {}

    static byte[] ascii(String text) {
        return text.getBytes(StandardCharsets.ISO_8859_1);
    }

    /// @param headers each ends in CR LF; the length is added
    static byte[] request(String headers, byte[] body) {
        return request("POST", "/invocations", headers, body);
    }

    static byte[] request(String method, String path, String headers, byte[] body) {
        var head = "%s %s HTTP/1.1\r\nHost: x\r\n%sContent-Length: %d\r\n\r\n"
                .formatted(method, path, headers, body.length);
        return join(ascii(head), body);
    }

    static byte[] join(byte[]... parts) {
        var all = new ByteArrayOutputStream();
        for (var part : parts) {
            all.writeBytes(part);
        }
        return all.toByteArray();
    }

    static byte[] read(Path file) {
        try {
            return Files.readAllBytes(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /// Every payload there is, for the fuzzer.
    static List<Payload> all() {
        var all = new ArrayList<Payload>();
        for (var model : Model.values()) {
            all.addAll(model.good());
        }
        for (var folder : List.of("images", "npy")) {
            try (var files = Files.list(Path.of("src", "test", "resources", folder))) {
                files.sorted()
                        .filter(file -> file.toString().matches(".*\\.(jpg|png|gif|bmp|webp|npy|npz)"))
                        .forEach(file -> all.add(new Payload(type(file), read(file))));
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        all.add(new Payload("application/x-recordio", recordIo(read(Path.of("examples", "mnist", "sample.png")))));
        all.add(new Payload("application/octet-stream", new byte[] {0, 1, 2, (byte) 0xff}));
        all.add(Payload.of(
                "application/json",
                "{\"instances\": [{\"b64\": \"R0lGODlhAQABAAAAACw=\"}], \"signature_name\": \"x\"}"));
        return List.copyOf(all);
    }

    private static String type(Path file) {
        var ending = file.toString().replaceAll(".*\\.", "");
        return switch (ending) {
            case "npy", "npz" -> "application/x-" + ending;
            case "jpg" -> "image/jpeg";
            default -> "image/" + ending;
        };
    }

    private static List<Payload> pictures() {
        var sample = read(Path.of("examples", "mnist", "sample.png"));
        return List.of(
                new Payload("image/png", sample),
                new Payload(
                        "application/x-image", read(Path.of("src", "test", "resources", "images", "progressive.jpg"))),
                new Payload("image/webp", read(Path.of("src", "test", "resources", "images", "lossless.webp"))),
                new Payload("image/gif", read(Path.of("src", "test", "resources", "images", "interlaced.gif"))),
                new Payload("application/x-recordio", join(recordIo(sample), recordIo(sample))));
    }

    private static List<Payload> classes() {
        return List.of(new Payload(
                "image/jpeg", read(Path.of("examples", "image-classification", "pictures", "blue-star.jpg"))));
    }

    private static List<Payload> tensors() {
        var row = String.join(", ", Collections.nCopies(28, "0.5"));
        var picture = "[[" + String.join(", ", Collections.nCopies(28, "[" + row + "]")) + "]]";
        var array = npy("'<f4'", "(1, 1, 28, 28)", new byte[4 * 28 * 28]);
        return List.of(
                Payload.of("application/json", "{\"instances\": [" + picture + "]}"),
                Payload.of("application/jsonlines", picture + "\n" + picture),
                new Payload("application/x-npy", array),
                new Payload("application/x-npz", npz(List.of("x.npy"), array)));
    }

    static byte[] npy(String type, String shape, byte[] data) {
        var header = "{'descr': %s, 'fortran_order': False, 'shape': %s, }".formatted(type, shape);
        var prefix = ByteBuffer.allocate(10)
                .order(ByteOrder.LITTLE_ENDIAN)
                .put(ascii("\u0093NUMPY\u0001\u0000"))
                .putShort((short) (header.length() + 1));
        return join(prefix.array(), ascii(header + "\n"), data);
    }

    /// An archive that has the same file under several names.
    static byte[] npz(List<String> names, byte[] file) {
        var bytes = new ByteArrayOutputStream();
        try (var zip = new ZipOutputStream(bytes)) {
            for (var name : names) {
                zip.putNextEntry(new ZipEntry(name));
                zip.write(file);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return bytes.toByteArray();
    }

    static byte[] recordIo(byte[] record) {
        var bytes = ByteBuffer.allocate(8 + (record.length + 3) / 4 * 4).order(ByteOrder.LITTLE_ENDIAN);
        return bytes.putInt(0xced7230a).putInt(record.length).put(record).array();
    }

    static Path made(String name, String file, byte[] content) {
        var directory = Target.WORK.resolve(name);
        try {
            Files.createDirectories(directory.resolve(file).getParent());
            Files.write(directory.resolve(file), content);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return directory;
    }

    /// A question-answering model whose tokenizer can't be read to its end.
    private static Path withFifo() {
        for (var name : List.of("model.json", "model.pt")) {
            made("fifo", name, read(Path.of("model-artifact", name)));
        }
        var directory = Target.WORK.resolve("fifo");
        try {
            new ProcessBuilder("mkfifo", directory.resolve("tokenizer.json").toString())
                    .start()
                    .onExit()
                    .join();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return directory;
    }

    static String names(List<? extends Enum<?>> constants) {
        return constants.stream()
                .map(constant -> constant.name().toLowerCase(Locale.ROOT))
                .collect(Collectors.joining(", "));
    }
}
