package dev.berth.command;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.berth.testing.ServeProcess;
import dev.berth.testing.TestServer;
import dev.berth.testing.TextHandler;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/// `./transform` in a process that is killed and started again, until it comes to its end.
@Tag("packaged")
class KilledJobTest {

  /// 128 and the number of SIGKILL.
  private static final int KILLED = 137;
  /// One at each kind of moment.
  private static final int KILLS = 4;
  private static final int OBJECTS = 12;
  private static final int RECORDS = 400;

  @TempDir
  private Path directory;

  private final Random random = new Random(6);

  @Test
  void aJobThatIsKilledIsFinishedByRunningItAgain() throws Exception {
    writeInput();
    var undisturbed = directory.resolve("undisturbed");
    try (var job = transform(undisturbed)) {
      assertThat(job.exitCode()).as(job.err()).isZero();
    }
    var out = Files.createDirectory(directory.resolve("out"));
    int kills = 0;
    while (kills < KILLS && isKilled(out, kills)) {
      kills++;
      outputsAreWhole(out);
    }
    assertThat(kills).isPositive();
    try (var job = transform(out)) {
      assertThat(job.exitCode()).as(job.err()).isZero();
      assertThat(job.out()).containsPattern("objects +12\n").containsPattern("failed +0\n");
    }
    assertThat(contents(undisturbed)).hasSize(OBJECTS);
    assertThat(contents(out)).as("and nothing else, such as leftovers").isEqualTo(contents(undisturbed));
    assertThat(out.resolve(".berth-parts")).doesNotExist();
  }

  @Test
  void oneLargeObjectGoesOnWhereItsJobWasKilled() throws Exception {
    int records = 1500;
    var in = Files.createDirectory(directory.resolve("in"));
    var lines = IntStream.range(0, records).mapToObj("word %d"::formatted).toList();
    Files.write(in.resolve("words.txt"), lines);
    var out = directory.resolve("out");
    var asked = new ConcurrentLinkedQueue<String>();
    var handler = new TextHandler() {
      @Override
      public List<String> predictFn(List<String> words, Object model) throws Exception {
        asked.addAll(words);
        Thread.sleep(1);
        return super.predictFn(words, model);
      }
    };
    try (var server = TestServer.with(handler).set("SAGEMAKER_BATCH", "true").start()) {
      int runs = 0;
      long kept = 0;
      while (kept < records && runs++ < 2) {
        long before = kept;
        asked.clear();
        try (var job = words(in, out, server.port())) {
          await().until(() -> !job.process().isAlive() || kept(out) > before);
          job.process().destroyForcibly();
          job.exitCode();
        }
        assertThat(asked).as("what was safe is not asked again").noneMatch(word -> Integer.parseInt(word.substring(5)) < before);
        kept = Files.exists(out.resolve("words.txt.out")) ? records : kept(out);
      }
      try (var job = words(in, out, server.port())) {
        assertThat(job.exitCode()).as(job.err()).isZero();
      }
    }
    assertThat(Files.readAllLines(out.resolve("words.txt.out"))).isEqualTo(lines.stream().map(String::toUpperCase).toList());
    assertThat(out.resolve(".berth-parts")).doesNotExist();
  }

  private ServeProcess words(Path in, Path out, int port) throws IOException {
    return ServeProcess.start(Map.of(), List.of(
        Path.of("transform").toAbsolutePath().toString(), "--endpoint", "http://127.0.0.1:" + port,
        "--input", in.toString(), "--output", out.toString(), "--report", directory.resolve("words.json").toString(),
        "--content-type", "text/plain", "--accept", "text/plain", "--split-type", "Line", "--assemble-with", "Line",
        "--batch-strategy", "SingleRecord", "--max-concurrent-transforms", "2"));
  }

  /// How many records an unfinished job has kept: the last number in the names of its parts.
  private static long kept(Path out) throws IOException {
    if (!Files.exists(out.resolve(".berth-parts"))) {
      return 0;
    }
    try (var parts = Files.walk(out.resolve(".berth-parts"))) {
      return parts.map(part -> part.getFileName().toString()).filter(name -> name.matches("\\d+-\\d+"))
          .mapToLong(name -> Long.parseLong(name.substring(name.indexOf('-') + 1))).max().orElse(0);
    } catch (UncheckedIOException e) {
      // A part went away while it was looked at.
      return 0;
    }
  }

  /// Kills a job as soon as some outputs are begun, the first bytes of one are on the disk, or one or two more are
  /// whole.
  ///
  /// @param moment what it is killed at, from 0 to 3 in this order
  /// @return false where the job came to its end before
  private boolean isKilled(Path out, int moment) throws Exception {
    int begun = 1 + random.nextInt(3);
    var earlier = Set.copyOf(files(out));
    try (var job = transform(out)) {
      await().pollInterval(Duration.ofMillis(1 + random.nextInt(20))).until(() -> {
        var later = files(out).stream().filter(file -> !earlier.contains(file)).toList();
        var unfinished = later.stream().filter(file -> !isOutput(file)).toList();
        return !job.process().isAlive() || switch (moment) {
          case 0 -> unfinished.size() >= begun;
          case 1 -> unfinished.stream().anyMatch(file -> file.toFile().length() > 0);
          default -> later.stream().filter(KilledJobTest::isOutput).count() >= moment - 1;
        };
      });
      job.process().destroyForcibly();
      int code = job.exitCode();
      assertThat(code).as(job.err()).isIn(0, KILLED);
      return code == KILLED;
    }
  }

  private static void outputsAreWhole(Path out) throws IOException {
    contents(out).forEach((name, text) -> {
      if (isOutput(Path.of(name))) {
        assertThat(text.lines()).as(name).hasSize(RECORDS);
        assertThat(text).as(name).endsWith("}\n");
      }
    });
  }

  private void writeInput() throws IOException {
    var in = Files.createDirectory(directory.resolve("in"));
    for (int object = 0; object < OBJECTS; object++) {
      int first = object;
      Files.writeString(in.resolve("%02d.jsonl".formatted(object)), IntStream.range(0, RECORDS)
          .mapToObj(i -> "{\"user_id\": \"114521\", \"k\": %d}%n".formatted(1 + (first + i) % 40))
          .collect(Collectors.joining()));
    }
  }

  private ServeProcess transform(Path output) throws IOException {
    var command = new ArrayList<>(List.of(
        Path.of("transform").toAbsolutePath().toString(), "--model-dir", "examples/recommender",
        "--input", directory.resolve("in").toString(), "--output", output.toString(),
        "--report", directory.resolve("report.json").toString(),
        "--content-type", "application/jsonlines", "--accept", "application/jsonlines",
        "--split-type", "Line", "--assemble-with", "Line",
        "--batch-strategy", "SingleRecord", "--max-concurrent-transforms", "3"));
    return ServeProcess.start(Map.of("INSTANCE_TYPE", "cpu"), command);
  }

  private static boolean isOutput(Path file) {
    return file.toString().endsWith(".out");
  }

  private static List<Path> files(Path directory) throws IOException {
    try (var list = Files.list(directory)) {
      return list.filter(Files::isRegularFile).toList();
    }
  }

  private static Map<String, String> contents(Path directory) throws IOException {
    var all = new TreeMap<String, String>();
    for (var file : files(directory)) {
      all.put(file.getFileName().toString(), Files.readString(file));
    }
    return all;
  }
}
